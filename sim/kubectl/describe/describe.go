// Package describe prints objects as kubectl describe does.
//
//	Info ─ describers by resource ─▶ lines with tabs ─▶ columns
//	           └ Reader: other objects that a description needs, such as a Service's EndpointSlices, and events
package describe

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/patches"
	"github.com/kubesim/kubesim/sim/kubectl/printer"
	"github.com/kubesim/kubesim/sim/object"
)

// describer writes the description of an object as lines with tabs, which are aligned to columns at the end.
type describer struct {
	strings.Builder
	client.Reader
	info *client.Info
	err  error // the first failed request; no further requests are sent after it
}

// line writes a line, indented by two spaces for each level.
func (d *describer) line(level int, format string, args ...any) {
	fmt.Fprintf(&d.Builder, strings.Repeat("  ", level)+format+"\n", args...)
}

// given writes a line with a label and a value, unless the value is empty.
func (d *describer) given(level int, label, value string) {
	if value != "" {
		d.line(level, "%s:\t%s", label, value)
	}
}

// describers maps a resource to the function that describes its objects. All other resources use generic.
var describers = map[string]func(d *describer, obj object.Object){
	"configmaps":                             (*describer).configMap,
	"secrets":                                (*describer).secret,
	"namespaces":                             (*describer).namespaceOf,
	"nodes":                                  (*describer).node,
	"serviceaccounts":                        (*describer).serviceAccount,
	"resourcequotas":                         (*describer).quota,
	"limitranges":                            (*describer).limitRange,
	"priorityclasses.scheduling.k8s.io":      (*describer).priorityClass,
	"roles.rbac.authorization.k8s.io":        (*describer).role,
	"clusterroles.rbac.authorization.k8s.io": (*describer).role,
	"rolebindings.rbac.authorization.k8s.io": (*describer).binding,
	"clusterrolebindings.rbac.authorization.k8s.io": (*describer).binding,
	"services":                             (*describer).service,
	"endpoints":                            (*describer).endpointsOf,
	"endpointslices.discovery.k8s.io":      (*describer).endpointSlice,
	"ingressclasses.networking.k8s.io":     (*describer).ingressClass,
	"ingresses.networking.k8s.io":          (*describer).ingress,
	"networkpolicies.networking.k8s.io":    (*describer).networkPolicy,
	"pods":                                 (*describer).pod,
	"persistentvolumes":                    (*describer).persistentVolume,
	"persistentvolumeclaims":               (*describer).claim,
	"storageclasses.storage.k8s.io":        (*describer).storageClass,
	"deployments.apps":                     (*describer).deployment,
	"replicasets.apps":                     (*describer).replicaSet,
	"replicationcontrollers":               (*describer).replicaSet,
	"statefulsets.apps":                    (*describer).statefulSet,
	"daemonsets.apps":                      (*describer).daemonSet,
	"jobs.batch":                           (*describer).job,
	"cronjobs.batch":                       (*describer).cronJob,
	"horizontalpodautoscalers.autoscaling": (*describer).autoscaler,
	"poddisruptionbudgets.policy":          (*describer).budget,
}

// Describe writes the output of kubectl describe for an object. If events is set, the output includes the object's events. It
// returns an error if a related object cannot be read.
func Describe(w io.Writer, r client.Reader, info *client.Info, events bool) error {
	d := &describer{Reader: r, info: info}
	resource := info.Mapping.GroupResource()
	do := describers[resource]
	if do == nil {
		do = (*describer).generic
	}
	do(d, info.Object)
	if events && !slices.Contains(eventless, resource) {
		d.events(info.Object)
	}
	if d.err != nil {
		return d.err
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprint(t, d.String())
	return t.Flush()
}

// PodTemplate returns the description of a pod template. Its columns are separated by tabs.
func PodTemplate(template object.Object) string {
	var d describer
	d.podTemplate(template)
	return d.String()
}

// eventless lists the resources whose descriptions do not include events.
var eventless = strings.Fields("secrets namespaces roles.rbac.authorization.k8s.io clusterroles.rbac.authorization.k8s.io " +
	"rolebindings.rbac.authorization.k8s.io clusterrolebindings.rbac.authorization.k8s.io resourcequotas limitranges networkpolicies.networking.k8s.io")

// list returns the objects of a resource in a namespace (client.List).
func (d *describer) list(resource, namespace string, query ...string) (items []object.Object) {
	if d.err == nil {
		_, items, d.err = client.List(d, resource, namespace, query...)
	}
	return items
}

// events writes the events about an object.
func (d *describer) events(obj object.Object) {
	fields := "involvedObject.name=" + obj.Name() + ",involvedObject.namespace=" + obj.Namespace() + ",involvedObject.kind=" + obj.Kind() + ",involvedObject.uid="
	if obj.Namespace() == "" {
		fields = strings.Replace(fields, ",involvedObject.namespace=", "", 1)
	}
	uids := []string{obj.UID()}
	if obj.Kind() == "Node" {
		uids = append(uids, obj.Name()) // a kubelet's events have the node's name as its uid
	}
	var found []object.Object
	for _, uid := range uids {
		found = append(found, d.list("events", obj.Namespace(), "fieldSelector", fields+uid, "limit", client.PageSize)...)
	}
	if len(found) == 0 {
		d.line(0, "Events:\t<none>")
		return
	}
	last := func(e object.Object) time.Time { return printer.Time(e.String("lastTimestamp")) }
	slices.SortFunc(found, func(a, b object.Object) int { return last(a).Compare(last(b)) }) // not stable, as in kubectl
	d.line(0, "Events:\n  Type\tReason\tAge\tFrom\tMessage")
	d.line(1, "----\t------\t----\t----\t-------")
	for _, e := range found {
		message := strings.TrimSpace(e.String("message"))
		if path := e.String("involvedObject", "fieldPath"); path != "" {
			message = path + ": " + message
		}
		d.line(1, "%s\t%s\t%s\t%s\t%s", e.String("type"), e.String("reason"), printer.Since(d.Now(), e),
			cmp.Or(e.String("source", "component"), e.String("reportingComponent")), message)
	}
}

// head writes the name, namespace, labels and annotations of an object.
func (d *describer) head(obj object.Object) {
	d.line(0, "Name:\t%s", obj.Name())
	if obj.Namespace() != "" {
		d.line(0, "Namespace:\t%s", obj.Namespace())
	}
	d.metadata(obj)
}

// metadata writes the labels and annotations of an object.
func (d *describer) metadata(obj object.Object) {
	d.labels(0, "Labels", obj.Labels())
	d.annotations(0, obj.Annotations())
}

// labels writes labels, one per line.
func (d *describer) labels(level int, title string, m map[string]string) {
	d.line(level, "%s:\t%s", title, printer.Pairs(m, "=", "\n\t"))
}

// longAnnotation is the maximum length of an annotation that is printed on the same line as its name.
const longAnnotation = 140

// annotations writes all annotations except kubectl apply's.
func (d *describer) annotations(level int, m map[string]string) {
	text := "Annotations:\t"
	some := false
	for _, k := range object.SortedKeys(m) {
		v := m[k]
		if k == patches.LastApplied {
			continue
		}
		if some {
			text = "\t"
		}
		some = true
		v = strings.TrimSuffix(v, "\n")
		if strings.Contains(v, "\n") || len(v)+len(k)+2 > longAnnotation {
			d.line(level, "%s%s:", text, k)
			for _, line := range strings.Split(v, "\n") {
				if len(line) > longAnnotation-2 {
					line = line[:longAnnotation-2] + "..."
				}
				d.line(level, "\t  %s", line)
			}
			continue
		}
		d.line(level, "%s%s: %s", text, k, v)
	}
	if !some {
		d.line(level, "Annotations:\t<none>")
	}
}

// when returns a time in the format of describe, or "" if text is not a time.
func when(text string) string {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return ""
	}
	return t.UTC().Format(time.RFC1123Z)
}

// valueOr returns the value at a path as a string. If there is no value, it returns the given default.
func valueOr(obj object.Object, otherwise string, path ...string) string {
	v, ok := obj.Get(path...)
	if !ok || v == nil {
		return otherwise
	}
	return fmt.Sprint(v)
}

// generic writes all fields of an object.
func (d *describer) generic(obj object.Object) {
	d.line(0, "Name:\t%s", obj.Name())
	d.line(0, "Namespace:\t%s", obj.Namespace())
	d.metadata(obj)
	rest := obj.Copy()
	for _, name := range []string{"managedFields", "name", "namespace", "labels", "annotations"} {
		rest.Remove("metadata", name)
	}
	d.fields(0, rest)
}

func (d *describer) fields(level int, m map[string]any) {
	for _, k := range object.SortedKeys(m) {
		switch v := m[k].(type) {
		case map[string]any:
			d.line(level, "%s:", title(k))
			d.fields(level+1, v)
		case []any:
			d.line(level, "%s:", title(k))
			for _, item := range v {
				if o, ok := item.(map[string]any); ok {
					d.fields(level+1, o)
				} else {
					d.line(level+1, "%v", item)
				}
			}
		default:
			d.line(level, "%s:\t%v", title(k), v)
		}
	}
}

// acronyms lists the words that are in capitals in titles.
var acronyms = []string{"API", "URL", "UID", "GUID"}

// title returns a field name as a title. For example, it returns Creation Timestamp for creationTimestamp. Names with other characters
// than letters and hyphens are returned unchanged.
func title(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' }) {
		return name
	}
	words := camelWords([]rune(name))
	var out []string
	for i := 0; i < len(words); i++ {
		w := words[i]
		if w == "-" {
			continue
		}
		if i+1 < len(words) && len(w) > 1 && w == strings.ToUpper(w) && words[i+1] != "-" { // podCIDRs: CID, Rs
			i++
			w += words[i]
		} else if slices.Contains(acronyms, strings.ToUpper(w)) {
			w = strings.ToUpper(w)
		} else {
			w = strings.ToUpper(w[:1]) + w[1:]
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

// camelWords splits a name before each capital letter that begins a word.
func camelWords(name []rune) (words []string) {
	from := 0
	for i := 1; i <= len(name); i++ {
		if i < len(name) {
			upper, before := unicode.IsUpper(name[i]), unicode.IsUpper(name[i-1])
			last := i+1 < len(name) && unicode.IsLower(name[i+1])
			if !(upper && (!before || last)) {
				continue
			}
		}
		words = append(words, string(name[from:i]))
		from = i
	}
	return words
}
