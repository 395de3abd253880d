// Package podspec has what every pod template shares: defaults, validation, warnings, columns, feature gates. Rules is one spec
// that is checked; a file has the rules of one part of it.
package podspec

import (
	"math"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Rules checks one pod spec. Every rule reports at a path below path, in the order of the API server.
type Rules struct {
	Spec  object.Object
	meta  object.Object // metadata of the pod; nil for a template
	Path  field.Path
	Allow podAllowances

	ctx *resource.Context

	volumes map[string]object.Object // the volumes without errors, by name
	claims  []string                 // the names of spec.resourceClaims
}

// Whole is the path of errors about the object itself: the server prints the empty path like an index.
var Whole = field.Root("[]")

// NewRules returns the rules for spec. old is the spec before an update, nil for a new one.
func NewRules(ctx *resource.Context, spec, old, meta object.Object, path field.Path) *Rules {
	r := &Rules{Spec: spec, meta: meta, Path: path, Allow: podAllowancesOf(old), ctx: ctx,
		volumes: map[string]object.Object{}}
	for _, claim := range spec.Objects("resourceClaims") {
		if name := claim.String("name"); name != "" {
			r.claims = append(r.claims, name)
		}
	}
	return r
}

// ValidateTemplate returns what is wrong with the pod template at path.
func ValidateTemplate(ctx *resource.Context, template map[string]any, path field.Path) field.ErrorList {
	return ValidateTemplateUpdate(ctx, template, nil, path)
}

// ValidateTemplateUpdate returns what is wrong with a changed pod template. Some rules let pass what old, the
// template before, broke already.
func ValidateTemplateUpdate(ctx *resource.Context, template, old map[string]any, path field.Path) field.ErrorList {
	t, before := object.Object(template), object.Object(old)
	rules := NewRules(ctx, t.Map("spec"), before.Map("spec"), nil, path.Child("spec"))
	rules.Allow.DeletionCost = before.Map("metadata") != nil && BadDeletionCost(before.Annotations())
	annotations := path.Child("annotations")
	errs := field.CheckLabels(path.Child("labels"), t.Labels())
	errs = append(errs, ValidateTemplateAnnotations(annotations, t.Annotations())...)
	errs = append(errs, rules.Annotations(t.Annotations(), annotations)...)
	errs = append(errs, rules.All()...)
	errs = append(errs, rules.ProfilesMatchAnnotations(t.Annotations())...)
	if len(t.List("spec", "ephemeralContainers")) > 0 {
		errs = append(errs, field.Forbidden(path.Child("spec", "ephemeralContainers"), "ephemeral containers not allowed in pod template"))
	}
	return errs
}

// annotationsMax is the greatest size of all annotations of an object together.
const annotationsMax = 256 << 10

// ValidateTemplateAnnotations checks the annotations of a template, whose errors are all at p.
func ValidateTemplateAnnotations(p field.Path, annotations map[string]string) field.ErrorList {
	var errs field.ErrorList
	size := 0
	for _, key := range object.SortedKeys(annotations) {
		errs = append(errs, field.Messages(p, key, field.QualifiedName(strings.ToLower(key)))...)
		size += len(key) + len(annotations[key])
	}
	if size > annotationsMax {
		errs = append(errs, field.TooLong(p, annotationsMax))
	}
	return errs
}

// All returns everything wrong with the spec.
func (r *Rules) All() field.ErrorList {
	s, p := r.Spec, r.Path
	var errs field.ErrorList
	if !s.Has("terminationGracePeriodSeconds") {
		errs = append(errs, field.Required(p.Child("terminationGracePeriodSeconds"), ""))
	}
	for _, rule := range []func() field.ErrorList{
		r.checkVolumes, r.resourceClaims, r.containers, r.initContainers, r.ephemeralContainers, r.podResources, r.hostPorts,
		func() field.ErrorList {
			return field.MustBeSetToOneOf(p.Child("restartPolicy"), s.String("restartPolicy"), "Always", "OnFailure", "Never")
		},
		func() field.ErrorList {
			return field.MustBeSetToOneOf(p.Child("dnsPolicy"), s.String("dnsPolicy"), "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
		},
		func() field.ErrorList {
			return field.CheckLabels(p.Child("nodeSelector"), object.StringMap(s.Map("nodeSelector")))
		},
		r.podSecurityContext, r.affinity, r.dnsConfig, r.readinessGates, r.schedulingGates, r.topologySpread,
		r.hostProcess, r.hostUsers, r.hostnameOverride, r.names, r.tolerations, r.hostAliases, r.scheduling,
		r.operatingSystem, r.fileKeyVolumes,
	} {
		errs = append(errs, rule()...)
	}
	return errs
}

// names checks the names of other objects, and of the pod on the network.
func (r *Rules) names() field.ErrorList {
	s, p := r.Spec, r.Path
	var errs field.ErrorList
	check := func(name string, rule func(string) []string) {
		if value := s.String(name); value != "" {
			errs = append(errs, field.Check(p.Child(name), value, rule)...)
		}
	}
	check("serviceAccountName", field.DNS1123Subdomain)
	check("nodeName", field.DNS1123Subdomain)
	if seconds, ok := s.Int("activeDeadlineSeconds"); ok {
		errs = append(errs, field.Messages(p.Child("activeDeadlineSeconds"), seconds, field.InRange(seconds, 1, math.MaxInt32))...)
	}
	check("hostname", field.DNS1123Label)
	check("subdomain", field.DNS1123Label)
	return errs
}

// scheduling checks what is left that concerns the scheduler and the runtime.
func (r *Rules) scheduling() field.ErrorList {
	s, p := r.Spec, r.Path
	var errs field.ErrorList
	if name := s.String("priorityClassName"); name != "" {
		errs = append(errs, field.Check(p.Child("priorityClassName"), name, field.DNS1123Subdomain)...)
	}
	if s.Has("runtimeClassName") {
		errs = append(errs, field.Check(p.Child("runtimeClassName"), s.String("runtimeClassName"), field.DNS1123Subdomain)...)
	}
	if s.Has("preemptionPolicy") {
		errs = append(errs, field.MustBeSetToOneOf(p.Child("preemptionPolicy"), s.String("preemptionPolicy"), "PreemptLowerPriority", "Never")...)
	}
	if s.Has("overhead") {
		limits := object.Object{"limits": s.Map("overhead")}
		errs = append(errs, r.Resources(limits, p.Child("overhead"), ContainerResourceName)...)
	}
	return errs
}

// resourceClaims checks spec.resourceClaims (dynamic resource allocation).
func (r *Rules) resourceClaims() field.ErrorList {
	p := r.Path.Child("resourceClaims")
	_, static := r.meta.Map("annotations")[MirrorAnnotation]
	var errs field.ErrorList
	var seen []string
	for i, claim := range r.Spec.Objects("resourceClaims") {
		if static {
			errs = append(errs, field.Forbidden(Whole, "static pods do not support resource claims"))
			continue
		}
		at, name := p.Index(i), claim.String("name")
		switch {
		case name == "":
			errs = append(errs, field.Required(at.Child("name"), ""))
		case slices.Contains(seen, name):
			errs = append(errs, field.Duplicate(at.Child("name"), name))
		default:
			errs = append(errs, field.Check(at.Child("name"), name, field.DNS1123Label)...)
			seen = append(seen, name)
		}
		direct, template := claim.Has("resourceClaimName"), claim.Has("resourceClaimTemplateName")
		if direct && template {
			errs = append(errs, field.Invalid(at, gotext.Value("PodResourceClaim", claim), "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"))
		}
		if !direct && !template {
			errs = append(errs, field.Invalid(at, gotext.Value("PodResourceClaim", claim), "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"))
		}
		for _, ref := range []string{"resourceClaimName", "resourceClaimTemplateName"} {
			if claim.Has(ref) {
				errs = append(errs, field.Check(at.Child(ref), claim.String(ref), field.DNS1123Subdomain)...)
			}
		}
	}
	return errs
}

// eachContainer calls yield for every container in the order of the server: init, regular, ephemeral.
func (r *Rules) eachContainer(yield func(c object.Object, p field.Path)) {
	EachContainer(r.Spec, r.Path, yield)
}

// EachContainer calls yield for each container of a spec at the path, of all lists.
func EachContainer(spec object.Object, path field.Path, yield func(c object.Object, p field.Path)) {
	for _, list := range containerLists {
		object.EachObject(spec.List(list), func(i int, c object.Object) { yield(c, path.Child(list).Index(i)) })
	}
}

// isPod reports whether the spec is that of a pod, not of a template.
func (r *Rules) isPod() bool { return r.meta != nil }
