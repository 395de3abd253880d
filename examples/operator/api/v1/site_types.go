// Package v1 is the old version of Site, which has a single host and no limit on its scale.
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v2 "github.com/kubesim/kubesim/examples/operator/api/v2"
)

// GroupVersion is web.example.com/v1.
var GroupVersion = schema.GroupVersion{Group: "web.example.com", Version: "v1"}

// AddToScheme adds the kinds of this version to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Site{}, &SiteList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// SiteSpec is the desired state of a web site.
type SiteSpec struct {
	Image    string `json:"image"`
	Host     string `json:"host,omitempty"`
	Replicas *int32 `json:"replicas,omitempty"`
}

// Site is a web site. Its status is that of v2.
type Site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   SiteSpec      `json:"spec"`
	Status v2.SiteStatus `json:"status,omitempty"`
}

// SiteList is a list of Sites.
type SiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Site `json:"items"`
}

// DeepCopyObject implements runtime.Object. Usually controller-gen generates it.
func (s *Site) DeepCopyObject() runtime.Object { return s.DeepCopy() }

// DeepCopy returns a deep copy. Usually controller-gen generates it.
func (s *Site) DeepCopy() *Site {
	out := *s
	s.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	if s.Spec.Replicas != nil {
		replicas := *s.Spec.Replicas
		out.Spec.Replicas = &replicas
	}
	out.Status.Conditions = append([]metav1.Condition(nil), s.Status.Conditions...)
	return &out
}

// DeepCopyObject implements runtime.Object. Usually controller-gen generates it.
func (l *SiteList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Site, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopy()
	}
	return &out
}
