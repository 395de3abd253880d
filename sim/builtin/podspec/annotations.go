package podspec

import (
	"encoding/json"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// Annotations that mean something in a pod.
const (
	MirrorAnnotation       = "kubernetes.io/config.mirror"
	deletionCostAnnotation = "controller.kubernetes.io/pod-deletion-cost"
	tolerationsAnnotation  = "scheduler.alpha.kubernetes.io/tolerations"
	seccompPodAnnotation   = "seccomp.security.alpha.kubernetes.io/pod"
	seccompPrefix          = "container.seccomp.security.alpha.kubernetes.io/"
	AppArmorPrefix         = "container.apparmor.security.beta.kubernetes.io/"
)

// Annotations checks the annotations of a pod or a template, which are at p.
func (r *Rules) Annotations(annotations map[string]string, p field.Path) field.ErrorList {
	var errs field.ErrorList
	if value, ok := annotations[MirrorAnnotation]; ok && r.Spec.String("nodeName") == "" {
		errs = append(errs, field.Invalid(p.Key(MirrorAnnotation), value, "must set spec.nodeName if mirror pod annotation is set"))
	}
	errs = append(errs, r.annotatedTolerations(annotations[tolerationsAnnotation], p)...)
	if !r.Allow.DeletionCost && BadDeletionCost(annotations) {
		errs = append(errs, field.Invalid(p.Key(deletionCostAnnotation), annotations[deletionCostAnnotation], "must be a 32bit integer"))
	}
	if profile, ok := annotations[seccompPodAnnotation]; ok {
		errs = append(errs, seccompAnnotation(profile, p.Child(seccompPodAnnotation))...)
	}
	for _, key := range object.SortedKeys(annotations) {
		if strings.HasPrefix(key, seccompPrefix) {
			errs = append(errs, seccompAnnotation(annotations[key], p.Child(key))...)
		}
	}
	for _, key := range object.SortedKeys(annotations) {
		if container, ok := strings.CutPrefix(key, AppArmorPrefix); ok {
			errs = append(errs, r.appArmorAnnotation(container, annotations[key], p.Key(key))...)
		}
	}
	return errs
}

// annotatedTolerations checks tolerations in an annotation, which was their place before 1.6.
func (r *Rules) annotatedTolerations(text string, p field.Path) field.ErrorList {
	if text == "" {
		return nil
	}
	var list []map[string]any
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return field.ErrorList{field.Invalid(p, tolerationsAnnotation, err.Error())}
	}
	tolerations := make([]object.Object, len(list))
	for i, t := range list {
		tolerations[i] = t
	}
	return r.ValidateTolerations(tolerations, p.Child(tolerationsAnnotation))
}

func seccompAnnotation(profile string, p field.Path) field.ErrorList {
	switch profile {
	case "runtime/default", "docker/default", "unconfined":
		return nil
	}
	if path, ok := strings.CutPrefix(profile, "localhost/"); ok {
		return field.Check(p, path, field.DescendingPath)
	}
	return field.ErrorList{field.Invalid(p, profile, "must be a valid seccomp profile")}
}

func (r *Rules) appArmorAnnotation(container, profile string, p field.Path) field.ErrorList {
	var errs field.ErrorList
	found := false
	r.eachContainer(func(c object.Object, _ field.Path) { found = found || c.String("name") == container })
	if !found {
		errs = append(errs, field.Invalid(p, container, "container not found"))
	}
	if profile != "" && profile != "runtime/default" && profile != "unconfined" && !strings.HasPrefix(profile, "localhost/") {
		errs = append(errs, field.Invalid(p, profile, `invalid AppArmor profile name: "`+profile+`"`))
	}
	return errs
}

// ProfilesMatchAnnotations checks that annotations for seccomp and AppArmor say the same as the fields.
func (r *Rules) ProfilesMatchAnnotations(annotations map[string]string) field.ErrorList {
	errs := profileMatches("seccomp", r.Spec.At("securityContext", "seccompProfile"), annotations, seccompPodAnnotation,
		r.Path.Child("securityContext", "seccompProfile"))
	r.eachContainer(func(c object.Object, p field.Path) {
		errs = append(errs, profileMatches("seccomp", c.At("securityContext", "seccompProfile"), annotations,
			seccompPrefix+c.String("name"), p.Child("securityContext", "seccompProfile"))...)
	})
	if r.Spec.String("os", "name") == "windows" {
		return errs
	}
	r.eachContainer(func(c object.Object, p field.Path) {
		profile := c.At("securityContext", "appArmorProfile")
		if profile == nil {
			profile = r.Spec.At("securityContext", "appArmorProfile")
		}
		errs = append(errs, profileMatches("apparmor", profile, annotations, AppArmorPrefix+c.String("name"),
			p.Child("securityContext", "appArmorProfile"))...)
	})
	return errs
}

func profileMatches(what string, profile object.Object, annotations map[string]string, key string, p field.Path) field.ErrorList {
	value, ok := annotations[key]
	if !ok || profile == nil {
		return nil
	}
	same := true
	switch profile.String("type") {
	case "Unconfined":
		same = value == "unconfined"
	case "RuntimeDefault":
		same = value == "runtime/default" || what == "seccomp" && value == "docker/default"
	case "Localhost":
		path, local := strings.CutPrefix(value, "localhost/")
		if local && (!profile.Has("localhostProfile") || path != profile.String("localhostProfile")) {
			return field.ErrorList{field.Forbidden(p.Child("localhostProfile"), what+" profile in annotation and field must match")}
		}
		same = local
	}
	if same {
		return nil
	}
	return field.ErrorList{field.Forbidden(p.Child("type"), what+" type in annotation and field must match")}
}
