package conformance

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// masker replaces values that differ from run to run. Equal values get the same label:
//
//	web-7d9f-x2x9k, web-7d9f-b4k2p   web-<hash:1>-<1>, web-<hash:1>-<2>, also after their deletion
//	the name of a VolumeAttachment   csi-<1>
//	the uid of an object             <uid ReplicaSet/web-<hash:1>>, or <uid of a former …> after its deletion
//	the address of a pod             <ip of web-<hash:1>-<1>>
//	times, allocated ports           <time> <port>
//
// resourceVersions are omitted, and managedFields are reduced to manager, operation and subresource.
type masker struct {
	seen  *observer
	norm  *normaliser
	drawn map[string]string // generated name -> its prefix, or "hash" for the hash of a template
	label map[string]string // generated name -> its label
	text  *strings.Replacer
}

// hashLabels are the labels whose values are hashes of a template's Go representation. A value with a hyphen is not masked: it is
// the name of a StatefulSet's revision, which contains a hash of its JSON.
var hashLabels = []string{"pod-template-hash", "controller-revision-hash"}

var (
	cronSuffix = regexp.MustCompile(`-\d{8}$`) // in the name of a CronJob's Job: the scheduled minute
	ipForm     = regexp.MustCompile(`\b10\.244\.\d+\.\d+\b`)
)

func newMasker(seen *observer) *masker {
	seen.mu.Lock()
	defer seen.mu.Unlock()
	return &masker{seen: seen, norm: newNormaliser(seen.ns), drawn: maps.Clone(seen.drawn)}
}

// draw adds the generated values of an object to into: the object's name, and the hash of its template.
func draw(obj *Object, into map[string]string) {
	name, prefix, ok := generatedName(obj)
	if ok {
		into[name] = prefix
	}
	if isAttachment(name) {
		into[name] = "csi-"
	}
	for _, label := range hashLabels {
		if hash := textAt(obj, "metadata", "labels", label); hash != "" && !strings.Contains(hash, "-") {
			into[hash] = "hash"
		}
	}
	owners := itemsAt(obj, "metadata", "ownerReferences")
	if len(owners) > 0 && obj.Get("kind") == "Job" && textAt(owners[0], "kind") == "CronJob" && cronSuffix.MatchString(name) {
		into[name] = cronSuffix.ReplaceAllLiteralString(name, "-")
	}
}

var attachmentName = regexp.MustCompile("^csi-[0-9a-f]{64}$")

// isAttachment reports whether a name is that of a VolumeAttachment, which is a hash of the volume, the driver and the node.
func isAttachment(name string) bool { return attachmentName.MatchString(name) }

// object masks the values in an object, except generated names.
func (m *masker) object(obj *Object) *Object { return m.value(obj, "").(*Object) }

func (m *masker) value(v any, key string) any {
	switch v := v.(type) {
	case *Object:
		out := newObject()
		for _, k := range slices.Sorted(slices.Values(v.Keys)) {
			switch k {
			case "resourceVersion", "selfLink":
			case "managedFields":
				out.Set(k, managersOf(v.Members[k]))
			case "nodePort", "healthCheckNodePort":
				out.Set(k, "<port>")
			default:
				out.Set(m.string(k, ""), m.value(v.Members[k], k))
			}
		}
		return out
	case *List:
		return v.each(func(x any) any { return m.value(x, key) })
	case string:
		return m.string(v, key)
	}
	return v
}

// string masks a string. key is the name of its member.
func (m *masker) string(s, key string) string {
	switch {
	case s == "" || s == "None":
		return s
	case wholeTime.MatchString(s):
		return "<time>"
	case (key == "clusterIP" || key == "clusterIPs") && wholeIP.MatchString(s):
		return "<ip>"
	}
	s = strings.ReplaceAll(s, m.seen.ns, "<ns>")
	s = uuidForm.ReplaceAllStringFunc(s, m.uid)
	s = ipForm.ReplaceAllStringFunc(s, m.ip)
	return timeForm.ReplaceAllLiteralString(s, "<time>")
}

// uid returns the label for a uid, such as <uid Pod/web>.
func (m *masker) uid(uid string) string {
	m.seen.mu.Lock()
	defer m.seen.mu.Unlock()
	obj := m.seen.objects[uid]
	if obj == nil {
		return "<uid>"
	}
	name := strings.ReplaceAll(textAt(obj, "metadata", "name"), m.seen.ns, "<ns>")
	what := textAt(obj, "kind") + "/" + uuidForm.ReplaceAllLiteralString(name, "<uid>") + ">" // pvc-UID
	if m.seen.gone[uid] {
		return "<uid of a former " + what
	}
	return "<uid " + what
}

// ip returns the label for the address of a pod, such as <ip of web-0>.
func (m *masker) ip(ip string) string {
	for _, pod := range m.seen.there("Pod") {
		if textAt(pod, "status", "podIP") == ip {
			return "<ip of " + textAt(pod, "metadata", "name") + ">"
		}
	}
	return "<ip>"
}

// managersOf returns the manager, operation and subresource of each entry of managedFields, sorted and without duplicates.
func managersOf(entries any) any {
	list, _ := entries.(*List)
	var out []string
	for _, e := range list.Items {
		out = append(out, strings.TrimSpace(textAt(e, "manager")+" "+textAt(e, "operation")+" "+textAt(e, "subresource")))
	}
	slices.Sort(out)
	texts := &List{}
	for _, text := range slices.Compact(out) {
		texts.Items = append(texts.Items, text)
	}
	return texts
}

// event returns the fields of an event that are compared.
func (m *masker) event(e *Object) *Object {
	out := newObject()
	out.Set("about", m.string(textAt(e, "involvedObject", "kind")+"/"+textAt(e, "involvedObject", "name"), ""))
	out.Set("count", cmp.Or(valueAt(e, "series", "count"), e.Get("count"), any(Int("1"))))
	out.Set("from", cmp.Or(textAt(e, "source", "component"), textAt(e, "reportingComponent")))
	out.Set("message", m.string(textAt(e, "message"), ""))
	out.Set("reason", textAt(e, "reason"))
	out.Set("type", textAt(e, "type"))
	return out
}

// name assigns the labels of generated names. Names with the same prefix are ordered by the entries that contain them,
// so that in two runs the same number stands for objects in the same state.
func (m *masker) name(entries []entry) {
	m.label = map[string]string{}
	texts := make([]string, len(entries))
	for i, e := range entries {
		texts[i] = e.key + " " + Encode(e.value, false)
	}
	for len(m.label) < len(m.drawn) {
		m.number(texts)
	}
	m.text = m.replacer(func(name string) string { return m.label[name] })
}

// number assigns labels to the names that have none, except those with a prefix that contains another name without a label: they
// get theirs in a later call.
func (m *masker) number(texts []string) {
	numbered := m.replacer(func(name string) string { return cmp.Or(m.label[name], "*") })
	said := map[string]string{} // name -> the entries that contain it
	groups := map[string][]string{}
	for name, prefix := range m.drawn { // the order does not matter: sorted below
		group := numbered.Replace(prefix)
		if m.label[name] != "" || strings.Contains(group, "*") {
			continue
		}
		var about []string
		for _, text := range texts {
			if strings.Contains(text, name) {
				about = append(about, numbered.Replace(strings.ReplaceAll(text, name, "<this>")))
			}
		}
		slices.Sort(about)
		said[name] = strings.Join(about, "\n")
		groups[group] = append(groups[group], name)
	}
	for prefix, names := range groups { // the order does not matter: the result is a map
		slices.SortFunc(names, func(a, b string) int { return cmp.Or(strings.Compare(said[a], said[b]), strings.Compare(a, b)) })
		for i, name := range names {
			m.label[name] = fmt.Sprintf("%s<%d>", prefix, i+1)
			if prefix == "hash" {
				m.label[name] = fmt.Sprintf("<hash:%d>", i+1)
			}
		}
	}
}

// replacer returns a replacer for generated names. It replaces longer names first, because a name may begin with
// another one.
func (m *masker) replacer(by func(name string) string) *strings.Replacer {
	var pairs []string
	for _, name := range slices.SortedFunc(maps.Keys(m.drawn), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }) {
		pairs = append(pairs, name, by(name))
	}
	return strings.NewReplacer(pairs...)
}

// print returns the state as an object: it inserts the labels, and sorts the objects and events.
func (m *masker) print(objects, events []entry) *Object {
	out, all, said := newObject(), newObject(), &List{Items: []any{}}
	keyed := map[string]any{}
	for _, e := range objects {
		keyed[m.norm.text(m.text.Replace(e.key))] = m.replace(e.value, "")
	}
	for _, key := range slices.Sorted(maps.Keys(keyed)) {
		all.Set(key, keyed[key])
	}
	for _, e := range events {
		said.Items = append(said.Items, m.replace(e.value, ""))
	}
	sortByText(said)
	out.Set("objects", all)
	out.Set("events", said)
	return out
}

// replace replaces names with their labels, and sorts lists whose order is random.
func (m *masker) replace(v any, key string) any {
	switch v := v.(type) {
	case *Object:
		out := newObject()
		for _, k := range v.Keys {
			out.Set(m.text.Replace(k), m.replace(v.Members[k], k))
		}
		return out
	case *List:
		out := v.each(func(x any) any { return m.replace(x, key) })
		if slices.Contains(unordered, key) {
			sortByText(out)
		}
		return out
	case string:
		return m.text.Replace(v)
	}
	return v
}

// unordered are the lists whose order depends on a Go map or on uids.
var unordered = []string{"endpoints", "subsets", "addresses", "notReadyAddresses", "uncountedTerminatedPods", "succeeded", "failed", "active"}

func sortByText(list *List) {
	slices.SortFunc(list.Items, func(a, b any) int { return strings.Compare(Encode(a, false), Encode(b, false)) })
}
