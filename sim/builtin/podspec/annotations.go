package podspec

import (
	"encoding/json"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// Annotations of a pod that affect its behaviour.
const (
	MirrorAnnotation       = "kubernetes.io/config.mirror"
	deletionCostAnnotation = "controller.kubernetes.io/pod-deletion-cost"
	tolerationsAnnotation  = "scheduler.alpha.kubernetes.io/tolerations"
	seccompPodAnnotation   = "seccomp.security.alpha.kubernetes.io/pod"
	seccompPrefix          = "container.seccomp.security.alpha.kubernetes.io/"
	AppArmorPrefix         = "container.apparmor.security.beta.kubernetes.io/"
)

// Annotations checks the annotations of a pod or a template.
func (r *Rules) Annotations(at field.Cursor) {
	annotations := at.Object()
	if len(annotations) == 0 {
		return
	}
	if mirror := at.Key(MirrorAnnotation); mirror.Has() && r.Spec.String("nodeName") == "" {
		mirror.Invalid(mirror.Value(), "must set spec.nodeName if mirror pod annotation is set")
	}
	r.annotatedTolerations(at)
	at.Key(deletionCostAnnotation).InvalidIf(!r.Allow.DeletionCost && badDeletionCost(annotations[deletionCostAnnotation]), "must be a 32bit integer")
	seccompAnnotation(at.Child(seccompPodAnnotation))
	keys := object.SortedKeys(annotations)
	for _, key := range keys {
		if strings.HasPrefix(key, seccompPrefix) {
			seccompAnnotation(at.Child(key))
		}
	}
	for _, key := range keys {
		if container, ok := strings.CutPrefix(key, AppArmorPrefix); ok {
			r.appArmorAnnotation(at.Key(key), container)
		}
	}
}

// annotatedTolerations checks the tolerations in an annotation, where they were stored before 1.6.
func (r *Rules) annotatedTolerations(at field.Cursor) {
	text := at.String(tolerationsAnnotation)
	if text == "" {
		return
	}
	var list []map[string]any
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		at.Invalid(tolerationsAnnotation, err.Error())
		return
	}
	tolerations := make([]any, len(list))
	for i, t := range list {
		tolerations[i] = t
	}
	r.CheckTolerations(at.Child(tolerationsAnnotation).With(tolerations))
}

func seccompAnnotation(at field.Cursor) {
	switch profile := at.Value(); profile {
	case nil, "runtime/default", "docker/default", "unconfined":
	default:
		if path, ok := strings.CutPrefix(at.String(), "localhost/"); ok {
			at.With(path).Check(field.DescendingPath)
		} else {
			at.Invalid(profile, "must be a valid seccomp profile")
		}
	}
}

func (r *Rules) appArmorAnnotation(at field.Cursor, container string) {
	found := false
	for c := range Containers(r.Spec) {
		found = found || c.String("name") == container
	}
	at.With(container).InvalidIf(!found, "container not found")
	profile := at.String()
	at.InvalidIf(profile != "" && profile != "runtime/default" && profile != "unconfined" && !strings.HasPrefix(profile, "localhost/"),
		`invalid AppArmor profile name: "`+profile+`"`)
}

// NameProfiles reports whether one of the annotations is the old form of a seccomp or AppArmor profile. Few pods have such
// an annotation. For all others, the annotations need not be searched for each container.
func NameProfiles(annotations object.Object) bool {
	for key := range annotations { // order does not matter
		if key == seccompPodAnnotation || strings.HasPrefix(key, seccompPrefix) || strings.HasPrefix(key, AppArmorPrefix) {
			return true
		}
	}
	return false
}

// ProfilesMatchAnnotations checks that the seccomp and AppArmor annotations match the fields.
func (r *Rules) ProfilesMatchAnnotations(annotations object.Object) {
	if !NameProfiles(annotations) {
		return
	}
	whole := r.at.Child("securityContext")
	profileMatches(whole.Child("seccompProfile"), "seccomp", annotations, seccompPodAnnotation)
	for c := range r.eachContainer() {
		profileMatches(c.Child("securityContext", "seccompProfile"), "seccomp", annotations, seccompPrefix+c.String("name"))
	}
	if r.Spec.String("os", "name") == "windows" {
		return
	}
	for c := range r.eachContainer() {
		profile := c.Child("securityContext", "appArmorProfile")
		if !profile.Has() {
			profile = whole.Child("appArmorProfile").ReportAt(profile)
		}
		profileMatches(profile, "apparmor", annotations, AppArmorPrefix+c.String("name"))
	}
}

func profileMatches(profile field.Cursor, what string, annotations object.Object, key string) {
	value, ok := annotations[key].(string)
	if !ok || !profile.Has() {
		return
	}
	same := true
	switch profile.String("type") {
	case "Unconfined":
		same = value == "unconfined"
	case "RuntimeDefault":
		same = value == "runtime/default" || what == "seccomp" && value == "docker/default"
	case "Localhost":
		local := profile.Child("localhostProfile")
		if _, same = strings.CutPrefix(value, "localhost/"); same && (!local.Has() || value != "localhost/"+local.String()) {
			local.Forbidden(what + " profile in annotation and field must match")
			return
		}
	}
	profile.Child("type").ForbidIf(!same, what+" type in annotation and field must match")
}
