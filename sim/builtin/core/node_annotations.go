package core

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// The annotations of a node that hold JSON. The server reads them as fields of the node.
const (
	taintsAnnotation = "scheduler.alpha.kubernetes.io/taints"
	avoidAnnotation  = "scheduler.alpha.kubernetes.io/preferAvoidPods"
)

// validateNodeAnnotations checks the annotations that hold JSON.
func validateNodeAnnotations(at field.Cursor) {
	annotations := at.Child("metadata", "annotations")
	if text := annotations.String(taintsAnnotation); text != "" {
		validateAnnotatedTaints(annotations, text)
	}
	if text := annotations.String(avoidAnnotation); text != "" {
		validateAvoidedPods(annotations, text)
	}
}

// timestamp is a time in RFC 3339 as the server decodes it from JSON.
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

// validateAnnotatedTaints checks taints in an annotation. The server decodes them into its internal type, whose fields have
// no JSON names, and the names of the types below appear in errors.
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

// avoidTypes replaces the names of the types in validateAvoidedPods by those of the server's types.
var avoidTypes = strings.NewReplacer("core.UID", "types.UID", "core.timestamp", "v1.Time", "core.", "v1.")

// validateAvoidedPods checks the controllers whose pods a node prefers not to run. The real server crashes on an owner that
// does not say whether it is a controller, and drops the connection; here such an owner is refused as one that is not.
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
		annotations.Child("AvoidPods").Invalid(avoidAnnotation, avoidTypes.Replace(err.Error()))
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
