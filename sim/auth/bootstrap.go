package auth

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed bootstrap.txt
var bootstrapText string

// bootstrap holds the roles and bindings that need not be stored.
type bootstrap struct {
	roles    map[string][]Rule
	bindings []binding // of the ClusterRole with the same name, in the order of names
}

// readBootstrap reads bootstrap.txt, once per process; the result is shared and read-only.
var readBootstrap = sync.OnceValue(func() bootstrap {
	b := bootstrap{roles: map[string][]Rule{}}
	role := ""
	for _, line := range strings.Split(bootstrapText, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		f := strings.Split(rest, " | ")
		switch word {
		case "role":
			role = rest
		case "include":
			b.roles[role] = append(b.roles[role], b.roles[rest]...)
		case "rule":
			r := Rule{Verbs: words(f[0]), APIGroups: words(f[1]), Resources: words(f[2])}
			if len(f) > 3 {
				r.ResourceNames = words(f[3])
			}
			b.roles[role] = append(b.roles[role], r)
		case "url":
			b.roles[role] = append(b.roles[role], Rule{Verbs: words(f[0]), NonResourceURLs: words(f[1])})
		case "bind":
			kind, name, _ := strings.Cut(f[1], " ")
			b.bind(f[0], subject{kind: kind, name: name})
		}
	}
	return b
})

// bind adds a subject to the binding with the name.
func (b *bootstrap) bind(name string, s subject) {
	if n := len(b.bindings); n == 0 || b.bindings[n-1].name != name {
		b.bindings = append(b.bindings, binding{name: name, roleKind: "ClusterRole", role: name})
	}
	last := &b.bindings[len(b.bindings)-1]
	last.subjects = append(last.subjects, s)
}

func words(list string) []string {
	out := strings.Split(list, ",")
	for i, w := range out {
		if w == "core" {
			out[i] = ""
		}
	}
	return out
}
