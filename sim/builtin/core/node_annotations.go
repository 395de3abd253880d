package core

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// The annotations of a node that contain JSON. The server validates them like fields of the node.
const (
	taintsAnnotation = "scheduler.alpha.kubernetes.io/taints"
	avoidAnnotation  = "scheduler.alpha.kubernetes.io/preferAvoidPods"
)

// validateNodeAnnotations checks the annotations that contain JSON.
func validateNodeAnnotations(at field.Cursor) {
	annotations := at.Child("metadata", "annotations")
	if text := annotations.String(taintsAnnotation); text != "" {
		validateAnnotatedTaints(annotations, text)
	}
	if text := annotations.String(avoidAnnotation); text != "" {
		validateAvoidedPods(annotations, text)
	}
}

// timestamp is an RFC 3339 time. It decodes JSON in the same way as the server.
type timestamp string

// UnmarshalJSON implements json.Unmarshaler.
func (t *timestamp) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*t = ""
		return nil
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	_, err := time.Parse(time.RFC3339, text)
	*t = timestamp(text)
	return err
}

// validateAnnotatedTaints checks the taints in an annotation. The server decodes them into its internal type, whose
// fields have no JSON names. Errors contain the names of the types below.
func validateAnnotatedTaints(annotations field.Cursor, text string) {
	type TaintEffect string
	type Taint struct {
		Key, Value string
		Effect     TaintEffect
		TimeAdded  *timestamp
	}
	var decoded []Taint
	if err := json.Unmarshal([]byte(text), &decoded); err != nil {
		annotations.Invalid(taintsAnnotation, err.Error())
		return
	}
	list := make([]any, len(decoded))
	for i, t := range decoded {
		taint := object.Object{"key": t.Key, "value": t.Value, "effect": string(t.Effect)}
		if t.TimeAdded != nil {
			taint["timeAdded"] = string(*t.TimeAdded)
		}
		list[i] = map[string]any(taint)
	}
	taints, seen := field.CursorOn(annotations.Path(taintsAnnotation), list), field.Seen{}
	for i := range list {
		validateTaint(taints.Index(i), seen)
	}
	annotations.Report(taints.Errors())
}

// serverTypeNames replaces, in JSON errors, the names of validateAvoidedPods' Go types with those of the real server's types.
var serverTypeNames = strings.NewReplacer("core.UID", "types.UID", "core.timestamp", "v1.Time", "core.", "v1.")

// validateAvoidedPods checks the controllers whose pods a node prefers not to run. If an owner does not set controller,
// the real server panics and drops the connection; here, it is rejected like one with controller set to false.
func validateAvoidedPods(annotations field.Cursor, text string) {
	type UID string
	type OwnerReference struct {
		APIVersion         string `json:"apiVersion"`
		Kind               string `json:"kind"`
		Name               string `json:"name"`
		UID                UID    `json:"uid"`
		Controller         *bool  `json:"controller"`
		BlockOwnerDeletion *bool  `json:"blockOwnerDeletion"`
	}
	type PodSignature struct {
		PodController *OwnerReference `json:"podController"`
	}
	type PreferAvoidPodsEntry struct {
		PodSignature PodSignature `json:"podSignature"`
		EvictionTime timestamp    `json:"evictionTime"`
		Reason       string       `json:"reason"`
		Message      string       `json:"message"`
	}
	type AvoidPods struct {
		PreferAvoidPods []PreferAvoidPodsEntry `json:"preferAvoidPods"`
	}
	var avoid AvoidPods
	if err := json.Unmarshal([]byte(text), &avoid); err != nil {
		annotations.Child("AvoidPods").Invalid(avoidAnnotation, serverTypeNames.Replace(err.Error()))
		return
	}
	for i, entry := range avoid.PreferAvoidPods {
		at := annotations.Path(avoidAnnotation).Index(i).Child("PodSignature")
		switch owner := entry.PodSignature.PodController; {
		case owner == nil:
			annotations.Report(field.ErrorList{field.Required(at, "")})
		case owner.Controller == nil || !*owner.Controller:
			annotations.Report(field.ErrorList{field.Invalid(at.Child("PodController", "Controller"), false, "must point to a controller")})
		}
	}
}
