package podspec

import (
	"cmp"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// containerLists are the fields of a pod spec that contain containers, in the order in which the server visits them.
var containerLists = []string{"initContainers", "containers", "ephemeralContainers"}

// DefaultTemplate sets the defaults of a pod template. It creates the spec if there is none.
func DefaultTemplate(template map[string]any) {
	o := object.Object(template)
	Default(kind.ObjectAt(o, "spec"))
}

// Default sets the defaults that pods and pod templates share. defaultPod sets the remaining defaults of pods.
func Default(spec map[string]any) {
	if spec == nil {
		return
	}
	o := object.Object(spec)
	kind.SetEmpty(o, "ClusterFirst", "dnsPolicy")
	kind.SetEmpty(o, "Always", "restartPolicy")
	o.SetDefault(map[string]any{}, "securityContext")
	o.SetDefault(int64(30), "terminationGracePeriodSeconds")
	kind.SetEmpty(o, "default-scheduler", "schedulerName")
	mirrorServiceAccount(o)
	object.EachObject(o.List("volumes"), func(_ int, volume object.Object) { defaultVolume(volume) })
	for _, list := range containerLists {
		object.EachObject(o.List(list), func(_ int, container object.Object) { defaultContainer(container) })
	}
	RoundResources(o.At("resources"))
	RoundUp(o.Map("overhead"))
}

// mirrorServiceAccount keeps serviceAccount equal to serviceAccountName, which replaced it.
func mirrorServiceAccount(spec object.Object) {
	if name := cmp.Or(spec.String("serviceAccountName"), spec.String("serviceAccount")); name != "" {
		spec["serviceAccountName"], spec["serviceAccount"] = name, name
	} else {
		delete(spec, "serviceAccount")
	}
}

func defaultContainer(c object.Object) {
	if c.String("imagePullPolicy") == "" {
		c["imagePullPolicy"] = pullPolicyOf(c.String("image"))
	}
	kind.SetEmpty(c, "/dev/termination-log", "terminationMessagePath")
	kind.SetEmpty(c, "File", "terminationMessagePolicy")
	RoundResources(c.At("resources"))
	object.EachObject(c.List("ports"), func(_ int, port object.Object) { kind.SetEmpty(port, "TCP", "protocol") })
	object.EachObject(c.List("env"), func(_ int, env object.Object) { defaultEnvSource(env.At("valueFrom")) })
	for _, name := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		defaultProbe(c.At(name))
	}
	if lifecycle := c.At("lifecycle"); lifecycle != nil {
		for _, name := range []string{"postStart", "preStop"} {
			defaultHTTPGet(lifecycle.At(name, "httpGet"))
		}
	}
}

func defaultEnvSource(from object.Object) {
	if from == nil {
		return
	}
	defaultFieldRef(from.At("fieldRef"))
	if ref := from.At("fileKeyRef"); ref != nil {
		ref.SetDefault(false, "optional")
	}
}

func defaultProbe(probe object.Object) {
	if probe == nil {
		return
	}
	kind.SetZero(probe, 1, "timeoutSeconds")
	kind.SetZero(probe, 10, "periodSeconds")
	kind.SetZero(probe, 1, "successThreshold")
	kind.SetZero(probe, 3, "failureThreshold")
	defaultHTTPGet(probe.At("httpGet"))
	if grpc := probe.At("grpc"); grpc != nil {
		grpc.SetDefault("", "service")
	}
}

func defaultHTTPGet(get object.Object) {
	if get != nil {
		kind.SetEmpty(get, "/", "path")
		kind.SetEmpty(get, "HTTP", "scheme")
	}
}

func defaultFieldRef(ref object.Object) {
	if ref != nil {
		kind.SetEmpty(ref, "v1", "apiVersion")
	}
}

// pullPolicyOf returns the default pull policy of an image: Always for the tag latest. An image without a tag and a digest has
// this tag, too.
func pullPolicyOf(image string) string {
	if imageIsLatest(image) {
		return "Always"
	}
	return "IfNotPresent"
}

// imageReference matches an image reference with a domain, as the distribution project defines it:
// domain/path:tag@digest.
var imageReference = pattern(`^(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?|\[[0-9a-fA-F:]+\])(?::[0-9]+)?` +
	`((?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)+)` +
	`(?::([\w][\w.-]{0,127}))?(@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`)

// imagePathMax is the maximum length of the path in a reference.
const imagePathMax = 255

// imageID matches an image ID, which is not a reference in the distribution project's grammar.
var imageID = pattern(`^[a-f0-9]{64}$`)

// imageIsLatest reports whether an image reference refers to the tag latest. If the reference cannot be parsed, it returns false.
func imageIsLatest(image string) bool {
	_, tag, tagged := strings.Cut(image[strings.LastIndexByte(image, '/')+1:], ":")
	if tagged && tag != "latest" && !strings.Contains(image, "@") { // returns early for most images, so that they need not be parsed
		return false
	}
	if imageID().MatchString(image) {
		return false
	}
	domain, path, ok := strings.Cut(image, "/")
	if !ok || !strings.ContainsAny(domain, ".:") && domain != "localhost" && strings.ToLower(domain) == domain {
		domain, path = "docker.io", image
	}
	if domain == "docker.io" && !strings.Contains(path, "/") {
		path = "library/" + path
	}
	m := imageReference().FindStringSubmatch(domain + "/" + path)
	if m == nil || len(m[1]) > len("/")+imagePathMax {
		return false
	}
	tag, digest := m[2], m[3]
	return tag == "latest" || tag == "" && digest == ""
}

// defaultVolume sets the defaults of one volume. A volume without a source is an emptyDir.
func defaultVolume(v object.Object) {
	if !hasVolumeSource(v) {
		v["emptyDir"] = map[string]any{}
	}
	for _, item := range v.Objects("downwardAPI", "items") {
		defaultFieldRef(item.At("fieldRef"))
	}
	for _, source := range v.Objects("projected", "sources") {
		for _, item := range source.Objects("downwardAPI", "items") {
			defaultFieldRef(item.At("fieldRef"))
		}
		if token := source.At("serviceAccountToken"); token != nil {
			token.SetDefault(int64(3600), "expirationSeconds")
		}
	}
	if image := v.At("image"); image != nil && image.String("pullPolicy") == "" {
		image["pullPolicy"] = pullPolicyOf(image.String("reference"))
	}
	if claim := v.At("ephemeral", "volumeClaimTemplate"); claim != nil {
		claim.SetDefault("Filesystem", "spec", "volumeMode")
		RoundResources(claim.At("spec", "resources"))
	}
	DefaultSource(v)
}

// DefaultSource sets the defaults of a volume source in a pod or a PersistentVolume.
func DefaultSource(v object.Object) {
	for _, d := range sourceDefaults {
		source := v.At(d.source)
		if source != nil && (source[d.field] == nil || source[d.field] == "" && !d.pointer) {
			source[d.field] = d.value
		}
	}
}

var sourceDefaults = []struct {
	source, field string
	value         any
	pointer       bool // if true, the default does not replace ""
}{
	{"secret", "defaultMode", int64(0o644), true},
	{"configMap", "defaultMode", int64(0o644), true},
	{"downwardAPI", "defaultMode", int64(0o644), true},
	{"projected", "defaultMode", int64(0o644), true},
	{"hostPath", "type", "", true},
	{"iscsi", "iscsiInterface", "default", false},
	{"rbd", "pool", "rbd", false},
	{"rbd", "user", "admin", false},
	{"rbd", "keyring", "/etc/ceph/keyring", false},
	{"azureDisk", "cachingMode", "ReadWrite", true},
	{"azureDisk", "fsType", "ext4", true},
	{"azureDisk", "readOnly", false, true},
	{"azureDisk", "kind", "Shared", true},
	{"scaleIO", "storageMode", "ThinProvisioned", false},
	{"scaleIO", "fsType", "xfs", false},
}

func hasVolumeSource(v object.Object) bool {
	for name, value := range v { // order does not matter
		if name != "name" && value != nil {
			return true
		}
	}
	return false
}

// RoundResources rounds the limits and requests up to multiples of 1/1000.
func RoundResources(resources object.Object) {
	RoundLists(resources, "limits", "requests")
}

// RoundLists rounds the amounts in the named lists of o up to multiples of 1/1000.
func RoundLists(o object.Object, names ...string) {
	for _, name := range names {
		RoundUp(o.Map(name))
	}
}

// RoundUp rounds the quantities of a resource list up to multiples of 1/1000.
func RoundUp(list map[string]any) {
	for name, v := range list { // order does not matter
		text, _ := v.(string)
		if inThousandths(text) {
			continue
		}
		if q, err := quantity.Parse(text); err == nil {
			if rounded := q.RoundUp(-3); rounded.Cmp(q) != 0 {
				list[name] = rounded.String()
			}
		}
	}
}

// inThousandths reports whether a quantity is obviously a multiple of 1/1000: a short integer with no suffix smaller than
// m. It returns false for some other multiples.
func inThousandths(text string) bool { return len(text) < 16 && !strings.ContainsAny(text, ".nueE") }
