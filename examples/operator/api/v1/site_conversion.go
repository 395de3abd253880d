package v1

import (
	"encoding/json"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/conversion"

	v2 "github.com/kubesim/kubesim/examples/operator/api/v2"
)

// restAnnotation contains the fields that v1 does not have, so that they are preserved when a v1 client reads and writes the
// object.
const restAnnotation = "web.example.com/v2-rest"

// rest is the JSON in the annotation.
type rest struct {
	Hosts []string `json:"hosts,omitempty"` // all hosts except the first one
	Max   int32    `json:"max,omitempty"`
}

// ConvertTo implements conversion.Convertible. It converts the Site to v2.
func (s *Site) ConvertTo(hub conversion.Hub) error {
	out := hub.(*v2.Site)
	s.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec = v2.SiteSpec{Image: s.Spec.Image}
	out.Status = s.Status
	if s.Spec.Host != "" {
		out.Spec.Hosts = []string{s.Spec.Host}
	}
	if s.Spec.Replicas != nil {
		out.Spec.Scale = &v2.Scale{Replicas: *s.Spec.Replicas}
	}
	text, ok := s.Annotations[restAnnotation]
	if !ok {
		return nil
	}
	delete(out.Annotations, restAnnotation)
	if len(out.Annotations) == 0 {
		out.Annotations = nil
	}
	var more rest
	if err := json.Unmarshal([]byte(text), &more); err != nil {
		return fmt.Errorf("annotation %s: %w", restAnnotation, err)
	}
	if s.Spec.Host != "" { // a client that removed the host wants no hosts
		out.Spec.Hosts = append(out.Spec.Hosts, slices.DeleteFunc(more.Hosts,
			func(h string) bool { return h == s.Spec.Host })...)
	}
	if out.Spec.Scale != nil {
		out.Spec.Scale.Max = more.Max
	}
	return nil
}

// ConvertFrom implements conversion.Convertible. It converts a v2 Site to v1.
func (s *Site) ConvertFrom(hub conversion.Hub) error {
	in := hub.(*v2.Site)
	in.ObjectMeta.DeepCopyInto(&s.ObjectMeta)
	s.Spec = SiteSpec{Image: in.Spec.Image}
	s.Status = in.Status
	var more rest
	if len(in.Spec.Hosts) > 0 {
		s.Spec.Host = in.Spec.Hosts[0]
		more.Hosts = in.Spec.Hosts[1:]
	}
	if in.Spec.Scale != nil {
		s.Spec.Replicas = &in.Spec.Scale.Replicas
		more.Max = in.Spec.Scale.Max
	}
	if len(more.Hosts) == 0 && more.Max == 0 {
		return nil
	}
	text, err := json.Marshal(more)
	if err != nil {
		return err
	}
	if s.Annotations == nil {
		s.Annotations = map[string]string{}
	}
	s.Annotations[restAnnotation] = string(text)
	return nil
}
