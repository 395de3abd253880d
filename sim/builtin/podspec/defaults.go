package podspec

import (
	"cmp"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// containerLists are the fields of a pod spec that hold containers, in the order in which the server visits them.
var containerLists = []string{"initContainers", "containers", "ephemeralContainers"}

// DefaultTemplate fills in the defaults of the pod template at template, which gets a spec if it has none.
func DefaultTemplate(template map[string]any) {
	o := object.Object(template)
	Default(kind.ObjectAt(o, "spec"))
}

// Default fills in the defaults that pods and pod templates share. defaultPod has the defaults of pods alone.
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

// mirrorServiceAccount keeps the old name of serviceAccountName, serviceAccount, equal to it.
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

// pullPolicyOf returns the default pull policy of an image: Always for the tag latest, which is also meant when there
// is neither a tag nor a digest.
func pullPolicyOf(image string) string {
	if imageIsLatest(image) {
		return "Always"
	}
	return "IfNotPresent"
}

// imageReference is an image with a domain in front, as the distribution project defines it: domain/path:tag@digest.
var imageReference = pattern(`^(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?|\[[0-9a-fA-F:]+\])(?::[0-9]+)?` +
	`((?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)+)` +
	`(?::([\w][\w.-]{0,127}))?(@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`)

// imagePathMax is how long the path of a reference may be; a longer one is no reference.
const imagePathMax = 255

// imageID is what the distribution project takes for the ID of an image, and for no reference.
var imageID = pattern(`^[a-f0-9]{64}$`)

// imageIsLatest reports whether a reference names the tag latest. References that do not parse have no tag.
func imageIsLatest(image string) bool {
	_, tag, tagged := strings.Cut(image[strings.LastIndexByte(image, '/')+1:], ":")
	if tagged && tag != "latest" && !strings.Contains(image, "@") { // most are so: it need not be parsed
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

// defaultVolume fills in the defaults of one volume; a volume without a source is an emptyDir.
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

// DefaultSource fills in the defaults of a volume source, in a pod or in a PersistentVolume.
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
	pointer       bool // "" is a value too
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

// RoundResources rounds the limits and requests up to thousandths.
func RoundResources(resources object.Object) {
	RoundLists(resources, "limits", "requests")
}

// RoundLists rounds the amounts of the lists of o up to thousandths.
func RoundLists(o object.Object, names ...string) {
	for _, name := range names {
		RoundUp(o.Map(name))
	}
}

// RoundUp rounds the quantities of a resource list up to thousandths.
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

// inThousandths reports whether a quantity is plainly a multiple of a thousandth, as most are: a short whole number with a
// suffix that is not below m. Others may be, too.
func inThousandths(text string) bool { return len(text) < 16 && !strings.ContainsAny(text, ".nueE") }
