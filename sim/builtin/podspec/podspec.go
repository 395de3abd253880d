// Package podspec implements everything that kinds with a pod template share: defaults, validation, warnings, columns, and
// feature gates. Rules checks one spec. Each file contains the rules for one section of the spec.
package podspec

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/metadata"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

// Rules checks one pod spec, in the order in which the API server checks it.
type Rules struct {
	Spec  object.Object
	at    field.Cursor  // cursor at the spec
	meta  object.Object // metadata of the pod; nil for a template
	Allow allowances

	ctx *resource.Context

	volumes map[string]object.Object // the valid volumes, by name
	claims  []string                 // the names of spec.resourceClaims

	// Findings of earlier checks, so that later checks need not visit all containers again.
	onWindows bool // the spec contains Windows settings
	fileKeys  bool // there are variables from files

	// BadTolerations is set if the tolerations are invalid, which makes updates check them again.
	BadTolerations bool
}

// Whole is the path in errors about the object itself. The server prints it like an index.
var Whole = field.Root("[]")

// NewRules returns the rules for a spec. meta is the metadata of the pod, or nil for a template.
func NewRules(ctx *resource.Context, at field.Cursor, meta object.Object) *Rules {
	r := &Rules{Spec: at.Object(), at: at, meta: meta, Allow: allowances{old: at.Old()}, ctx: ctx}
	for _, claim := range r.Spec.Objects("resourceClaims") {
		if name := claim.String("name"); name != "" {
			r.claims = append(r.claims, name)
		}
	}
	return r
}

// CheckTemplate checks a pod template. Some rules do not apply if the stored template already breaks them.
func CheckTemplate(ctx *resource.Context, at field.Cursor) {
	r := NewRules(ctx, at.Child("spec"), nil)
	r.Allow.DeletionCost = BadDeletionCost(at.Old())
	annotations := CheckTemplateMeta(at)
	r.Annotations(annotations)
	r.All()
	r.ProfilesMatchAnnotations(annotations.Object())
	at.Child("spec", "ephemeralContainers").ForbidIf(at.Len("spec", "ephemeralContainers") > 0, "ephemeral containers not allowed in pod template")
}

// CheckTemplateMeta checks the labels and annotations of a template and returns a cursor at the annotations. Like the server, it
// omits metadata from the paths in errors.
func CheckTemplateMeta(at field.Cursor) (annotations field.Cursor) {
	at.Child("metadata", "labels").ReportAt(at.Child("labels")).Labels()
	return CheckAnnotations(at.Child("metadata", "annotations").ReportAt(at.Child("annotations")))
}

// CheckAnnotations checks the annotations of a template and returns its argument. All errors have the path of the annotations.
func CheckAnnotations(at field.Cursor) field.Cursor {
	if m := at.Object(); len(m) > 0 {
		at.Report(metadata.Annotations(m, at.Path()))
	}
	return at
}

// All checks the whole spec.
func (r *Rules) All() {
	at := r.at
	grace := at.Child("terminationGracePeriodSeconds")
	grace.RequireIf(!grace.Has(), "")
	r.checkVolumes()
	r.resourceClaims()
	r.containers()
	r.initContainers()
	r.ephemeralContainers()
	r.podResources()
	r.hostPorts()
	at.Child("restartPolicy").Required().OneOf("Always", "OnFailure", "Never")
	at.Child("dnsPolicy").Required().OneOf("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
	at.Child("nodeSelector").Labels()
	r.podSecurityContext()
	if r.ctx.Since(37) {
		r.sharedProcesses(at)
	}
	r.affinity()
	r.dnsConfig()
	for gate := range at.Each("readinessGates") {
		gate.Child("conditionType").OrEmpty().Check(field.QualifiedName)
	}
	r.schedulingGates()
	r.topologySpread()
	r.hostProcess()
	r.hostUsers()
	r.hostnameOverride()
	at.Child("serviceAccountName").IfGiven().Check(field.DNS1123Subdomain)
	at.Child("nodeName").IfGiven().Check(field.DNS1123Subdomain)
	at.Child("activeDeadlineSeconds").Range(1, math.MaxInt32)
	at.Child("hostname").IfGiven().Check(field.DNS1123Label)
	at.Child("subdomain").IfGiven().Check(field.DNS1123Label)
	before := len(at.Errors())
	r.CheckTolerations(at.Child("tolerations"))
	r.BadTolerations = len(at.Errors()) > before
	r.hostAliases()
	at.Child("priorityClassName").IfGiven().Check(field.DNS1123Subdomain)
	at.Child("runtimeClassName").Check(field.DNS1123Subdomain)
	if preemption := at.Child("preemptionPolicy"); preemption.Has() {
		preemption.Required().OneOf("PreemptLowerPriority", "Never")
	}
	r.Overhead(at.Child("overhead"))
	r.operatingSystem()
	if group := at.Child("schedulingGroup"); group.Has() {
		r.schedulingGroup(group.Child("podGroupName"))
	}
	r.fileKeyVolumes()
	r.evictionResponders()
}

// resourceClaims checks spec.resourceClaims (dynamic resource allocation).
func (r *Rules) resourceClaims() {
	seen := field.Seen{}
	for claim := range r.at.Each("resourceClaims") {
		if r.meta.Has("annotations", MirrorAnnotation) {
			r.at.Report(field.ErrorList{field.Forbidden(Whole, "static pods do not support resource claims")})
			continue
		}
		if name := claim.Child("name").Required(); seen[name.String()] {
			name.Duplicate(name.Value())
		} else if name.Check(field.DNS1123Label).Has() {
			seen[name.String()] = true
		}
		direct, template := claim.Child("resourceClaimName"), claim.Child("resourceClaimTemplateName")
		if direct.Has() == template.Has() {
			text := "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
			if direct.Has() {
				text = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
			}
			claim.Invalid(gotext.Value(gotext.PodResourceClaim, claim.Object()), text)
		}
		direct.Check(field.DNS1123Subdomain)
		template.Check(field.DNS1123Subdomain)
	}
}

// eachContainer returns the containers in the order of the server: init, regular, ephemeral.
func (r *Rules) eachContainer() iter.Seq[field.Cursor] { return containersOf(r.at) }

func containersOf(spec field.Cursor) iter.Seq[field.Cursor] {
	return func(yield func(field.Cursor) bool) {
		for _, list := range containerLists {
			for c := range spec.Each(list) {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// Containers returns the containers of a spec in the order of the server: init, regular, ephemeral.
func Containers(spec object.Object) iter.Seq[object.Object] {
	return func(yield func(object.Object) bool) {
		for _, list := range containerLists {
			for _, v := range spec.List(list) {
				if c, _ := v.(map[string]any); !yield(c) {
					return
				}
			}
		}
	}
}

// isPod reports whether the spec belongs to a pod and not to a template.
func (r *Rules) isPod() bool { return r.meta != nil }

// Gates returns the feature gates that affect pod specs, for a kind whose pod spec is at the given path. The path must end in a
// dot.
func Gates(path string) []kind.Gate {
	gates := []kind.Gate{
		{Name: "AtomicWriteVolumeUserFields", Fields: []string{
			"volumes.*.secret.defaultUser", "volumes.*.configMap.defaultUser", "volumes.*.downwardAPI.defaultUser", "volumes.*.projected.defaultUser",
			"volumes.*.secret.items.*.user", "volumes.*.configMap.items.*.user", "volumes.*.downwardAPI.items.*.user",
			"volumes.*.projected.sources.*.secret.items.*.user", "volumes.*.projected.sources.*.configMap.items.*.user",
			"volumes.*.projected.sources.*.downwardAPI.items.*.user", "volumes.*.projected.sources.*.serviceAccountToken.user",
			"volumes.*.projected.sources.*.clusterTrustBundle.user", "volumes.*.projected.sources.*.podCertificate.user"}},
		{Name: "ClusterTrustBundleProjection", Fields: []string{"volumes.*.projected.sources.*.clusterTrustBundle"}},
		{Name: "ContainerRestartRules", Fields: []string{"containers.*.restartPolicyRules",
			"initContainers.*.restartPolicyRules", "containers.*.restartPolicy"}},
		{Name: "ContainerStopSignals", Fields: inContainers("lifecycle.stopSignal?")},
		{Name: "DynamicResourceAllocation", Fields: append(inContainers("resources.claims"), "resourceClaims")},
		{Name: "EmptyDirVolumeMode", Fields: []string{"volumes.*.emptyDir.mode"}},
		{Name: "EnvFiles", Fields: inContainers("env.*.valueFrom.fileKeyRef")},
		{Name: "EvictionRequestAPI", Fields: []string{"evictionResponders"}},
		{Name: "GRPCContainerProbeTLS", Fields: slices.Concat(inContainers("livenessProbe.grpc.mode"), inContainers("readinessProbe.grpc.mode"),
			inContainers("startupProbe.grpc.mode"))},
		{Name: "GenericWorkload", Fields: []string{"schedulingGroup"}},
		{Name: "GenericWorkload", Fields: []string{"workloadRef"}},
		{Name: "H2CContainerProbe", Fields: slices.Concat(inContainers("livenessProbe.httpGet.protocol"), inContainers("readinessProbe.httpGet.protocol"),
			inContainers("startupProbe.httpGet.protocol"), inContainers("lifecycle.postStart.httpGet.protocol"), inContainers("lifecycle.preStop.httpGet.protocol"))},
		{Name: "HostnameOverride", Fields: []string{"hostnameOverride"}},
		{Name: "ImageVolume", Fields: []string{"volumes.*.image"}},
		{Name: "PodCertificateRequest", Fields: []string{"volumes.*.projected.sources.*.podCertificate"}},
		{Name: "RestartAllContainersOnContainerExits", Values: &kind.GatedValue{Path: "containers.*.restartPolicyRules.*.action", Value: "RestartAllContainers", Allowed: []string{"Restart"}}},
		{Name: "RestartAllContainersOnContainerExits", Values: &kind.GatedValue{Path: "initContainers.*.restartPolicyRules.*.action", Value: "RestartAllContainers", Allowed: []string{"Restart"}}},
		{Name: "VolumeBindMountOptions", Fields: inContainers("volumeMounts.*.bindMountOptions")},
	}
	for i := range gates {
		for j := range gates[i].Fields {
			gates[i].Fields[j] = path + gates[i].Fields[j]
		}
		if gates[i].Values != nil {
			gates[i].Values.Path = path + gates[i].Values.Path
		}
	}
	return gates
}

// inContainers returns the paths of a field in all lists of containers.
func inContainers(path string) []string {
	return []string{"containers.*." + path, "initContainers.*." + path, "ephemeralContainers.*." + path}
}

// ContainerColumns returns the columns that show the containers of a kind's pod template, which is at the given path.
func ContainerColumns(template ...string) []table.Column {
	of := func(name string) func(object.Object) any {
		return func(obj object.Object) any { return ContainersCell(obj, name, template...) }
	}
	return []table.Column{
		table.Text("Containers", "Names of each container in the template.").Wide().Cell(of("name")),
		table.Text("Images", "Images referenced by each container in the template.").Wide().Cell(of("image")),
	}
}

// TemplateColumns returns the last columns of a kind whose spec, which is at the given path, has a pod template and a label
// selector.
func TemplateColumns(specType string, spec ...string) []table.Column {
	return append(ContainerColumns(slices.Concat(spec, []string{"template"})...),
		table.Doc("Selector", specType, "selector").Wide().Cell(func(obj object.Object) any {
			return selector.FormatLabelSelector(obj.At(spec...).Map("selector"))
		}))
}

// ContainersCell joins the values of a field of all containers in a pod template, which is at the given path.
func ContainersCell(obj object.Object, name string, template ...string) string {
	return strings.Join(kind.Texts(obj.At(template...).Objects("spec", "containers"), name), ",")
}

// DefaultTemplateOf sets the defaults of spec.template.
func DefaultTemplateOf(obj object.Object) {
	DefaultTemplate(kind.ObjectAt(obj, "spec", "template"))
}

// Unlabelled reports whether obj lacks labels although its template has some. The labels of obj then default to those of the
// template.
func Unlabelled(obj object.Object) bool {
	return len(obj.Map("metadata", "labels")) == 0 && len(obj.Map("spec", "template", "metadata", "labels")) > 0
}

// WarnNames warns about a name that is not a DNS label, because the name becomes part of hostnames.
func WarnNames(ctx *resource.Context, obj object.Object) {
	if msgs := field.DNS1123Label(obj.Name()); len(msgs) > 0 {
		ctx.Warn(fmt.Sprintf("metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: %v", msgs))
	}
}

// CheckSelected checks that the selector matches the labels of a template.
func CheckSelected(template field.Cursor, s selector.Labels) {
	template.Child("metadata", "labels").InvalidIf(!s.Matches(template.Object().Labels()), "`selector` does not match template `labels`")
}
