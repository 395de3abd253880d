// Package v2 is the storage version of Site, and the hub of conversions.
package v2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is web.example.com/v2.
var GroupVersion = schema.GroupVersion{Group: "web.example.com", Version: "v2"}

// AddToScheme adds the kinds of this version to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Site{}, &SiteList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// SiteSpec is the desired state of a web site.
type SiteSpec struct {
	Image string   `json:"image"`
	Hosts []string `json:"hosts,omitempty"`
	Scale *Scale   `json:"scale,omitempty"`
}

// Scale is the number of pods and its upper limit.
type Scale struct {
	Replicas int32 `json:"replicas"`
	Max      int32 `json:"max,omitempty"`
}

// SiteStatus is the observed state of a web site.
type SiteStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	ReadyReplicas      int32              `json:"readyReplicas,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// Site is a web site.
type Site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   SiteSpec   `json:"spec"`
	Status SiteStatus `json:"status,omitempty"`
}

// SiteList is a list of Sites.
type SiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Site `json:"items"`
}

// Hub implements conversion.Hub.
func (*Site) Hub() {}

// DeepCopyObject implements runtime.Object. Usually controller-gen generates it.
func (s *Site) DeepCopyObject() runtime.Object { return s.DeepCopy() }

// DeepCopy returns a deep copy. Usually controller-gen generates it.
func (s *Site) DeepCopy() *Site {
	out := *s
	s.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Hosts = append([]string(nil), s.Spec.Hosts...)
	if s.Spec.Scale != nil {
		scale := *s.Spec.Scale
		out.Spec.Scale = &scale
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
