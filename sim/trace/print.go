package trace

import (
	"bytes"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
)

// AppendJSON appends r as one line of JSON without a line break. It omits empty fields.
func (r *Record) AppendJSON(b []byte) []byte {
	b = append(b, `{"n":`...)
	b = strconv.AppendUint(b, r.N, 10)
	b = append(b, `,"t":"`...)
	b = r.At.UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","site":`...)
	b = object.AppendString(b, string(r.Site))
	b = object.AppendCount(b, "cause", r.Cause)
	b = object.AppendCount(b, "replica", uint64(r.Replica))
	b = object.AppendMember(b, "client", r.Client)
	b = object.AppendMember(b, "user", r.User)
	b = object.AppendMember(b, "verb", r.Verb)
	b = object.AppendMember(b, "what", r.What)
	b = object.AppendMember(b, "key", r.Key)
	b = object.AppendCount(b, "rv", r.Rev)
	b = object.AppendCount(b, "code", uint64(r.Code))
	b = object.AppendMember(b, "text", r.Text)
	if r.Spared {
		b = append(b, `,"spared":true`...)
	}
	return append(object.AppendMember(b, "hint", r.Hint), '}')
}

// Timeline returns a readable description of the records, one per line:
//
//	41 +12s         op/v1 ▶ 1        update pods default/a
//	43 +12s                          MODIFIED pods default/a, revision 4017
//	45 +12s         1 ▶ kubelet/v1   MODIFIED pods default/a, revision 4017
//	46 +12s         op/v1 ◀ 1        200 update pods default/a
//
// Times are relative to the very first record. Records of commits that a replica applied and of admitted requests are
// omitted.
func (l *Log) Timeline() string {
	var b strings.Builder
	if l.Dropped > 0 {
		fmt.Fprintf(&b, "%7s %d earlier lines are gone\n", "…", l.Dropped)
	}
	start := l.Start
	if start.IsZero() && len(l.Records) > 0 {
		start = l.Records[0].At
	}
	for i := range l.Records {
		r := &l.Records[i]
		if r.Site == ReplicaApplied || r.Site == RequestDecided {
			continue
		}
		since := "+" + r.At.Sub(start).String()
		line := fmt.Sprintf("%7d %-11s %-28s %s", r.N, since, r.between(), r.describe())
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// between returns the sender and the receiver of a message.
func (r *Record) between() string {
	switch r.Site {
	case RequestArrived:
		return fmt.Sprintf("%s ▶ %d", r.client(), r.Replica)
	case RequestAnswered:
		return fmt.Sprintf("%s ◀ %d", r.client(), r.Replica)
	case WatchSent:
		return fmt.Sprintf("%d ▶ %s", r.Replica, r.client())
	}
	return string(r.Site)
}

// client returns the client's name: its User-Agent without the platform.
func (r *Record) client() string {
	name, _, _ := strings.Cut(r.Client, " ")
	if name == "" {
		return "?"
	}
	return name
}

// describe returns a short description of the record.
func (r *Record) describe() string {
	switch r.Site {
	case Fault, Clock:
		return r.Text
	}
	words := make([]string, 0, 4)
	if r.Code != 0 {
		words = append(words, strconv.Itoa(r.Code))
	}
	for _, w := range []string{r.Verb, r.What, r.Key} {
		if w != "" {
			words = append(words, w)
		}
	}
	text := strings.Join(words, " ")
	if r.Rev != 0 {
		text += fmt.Sprintf(", revision %d", r.Rev)
	}
	return text
}

// Mermaid returns the records as a sequence diagram (mermaid.js.org), with clients on the left, followed by replicas
// and the store.
func (l *Log) Mermaid() string {
	var b bytes.Buffer
	b.WriteString("sequenceDiagram\n")
	ids := l.participants(&b)
	for i := range l.Records {
		r := &l.Records[i]
		client, replica := ids[r.client()], fmt.Sprintf("replica%d", r.Replica)
		story := plainText(r.describe())
		switch r.Site {
		case RequestArrived:
			fmt.Fprintf(&b, "    %s->>%s: %s\n", client, replica, story)
		case RequestAnswered:
			fmt.Fprintf(&b, "    %s-->>%s: %s\n", replica, client, story)
		case StoreCommitted:
			from := replica
			if r.Replica == 0 {
				from = "store"
			}
			fmt.Fprintf(&b, "    %s->>store: %s\n", from, story)
		case ReplicaApplied:
			fmt.Fprintf(&b, "    store-->>%s: %s\n", replica, story)
		case WatchSent:
			fmt.Fprintf(&b, "    %s-)%s: %s\n", replica, client, story)
		case Fault:
			fmt.Fprintf(&b, "    Note over store: %s\n", story)
		case Clock:
			fmt.Fprintf(&b, "    Note over store: clock %s\n", story)
		}
	}
	return b.String()
}

// participants declares the participants in order of appearance, and returns the ids of the clients.
func (l *Log) participants(b *bytes.Buffer) map[string]string {
	ids := map[string]string{}
	replicas := 0
	for i := range l.Records {
		r := &l.Records[i]
		replicas = max(replicas, r.Replica)
		if r.Site != RequestArrived && r.Site != WatchSent && r.Site != RequestAnswered {
			continue
		}
		if name := r.client(); ids[name] == "" {
			ids[name] = fmt.Sprintf("client%d", len(ids)+1)
			fmt.Fprintf(b, "    participant %s as %s\n", ids[name], plainText(name))
		}
	}
	for n := range replicas {
		fmt.Fprintf(b, "    participant replica%d as API server %d\n", n+1, n+1)
	}
	b.WriteString("    participant store\n")
	return ids
}

// plainText removes characters that end a line, a message or an entity of a diagram.
func plainText(s string) string {
	return strings.NewReplacer("\n", " ", "\r", " ", ";", ",", "#", " ", "<", "(", ">", ")").Replace(s)
}

// What returns the name of a resource in records, such as deployments.apps/status, or the path if it does not belong to a resource.
func What(group, resource, subresource, path string) string {
	if resource == "" {
		return path
	}
	if group != "" {
		resource += "." + group
	}
	if subresource != "" {
		resource += "/" + subresource
	}
	return resource
}

// Key returns the key of an object in records: namespace/name, or the name or namespace alone.
func Key(namespace, name string) string {
	if namespace == "" || name == "" {
		return namespace + name
	}
	return namespace + "/" + name
}

// Module returns the version of this module in the running program.
func Module() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path == modulePath {
			return m.Version
		}
	}
	return ""
}

const modulePath = "github.com/kubesim/kubesim"

// routine lists metadata that every write changes.
var routine = []string{"metadata.resourceVersion", "metadata.managedFields", "metadata.generation"}

// diffWidth is the maximum length of a line in a diff, in bytes.
const diffWidth = 240

// Difference returns the fields in which two states of an object differ, one line each: spec.replicas: 1 → 3. It omits
// metadata that every write changes.
func Difference(before, after object.Object) (lines []string) {
	for _, c := range object.Diff(before, after) {
		if Routine(c.Path) {
			continue
		}
		line := c.String()
		if len(line) > diffWidth {
			line = strings.ToValidUTF8(line[:diffWidth], "") + " …"
		}
		lines = append(lines, line)
	}
	return lines
}

// Routine reports whether a field is metadata that every write changes.
func Routine(path string) bool {
	return slices.ContainsFunc(routine, func(name string) bool { return path == name || strings.HasPrefix(path, name+"[") })
}
