package soak

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Op is one step of a run.
type Op struct {
	Client string // "*": it happens to the cluster
	Verb   string
	Words  []string          // a resource and a namespace or key; of trouble its arguments
	Args   map[string]string // how: "limit": "2"; a word of its own has the value ""
}

// String prints the Op as one line, which ParseOp reads.
func (o Op) String() string {
	parts := append([]string{o.Client, o.Verb}, o.Words...)
	for _, k := range sorted(o.Args) {
		if v := o.Args[k]; v != "" {
			k += "=" + v
		}
		parts = append(parts, k)
	}
	return strings.Join(parts, " ")
}

// flags are arguments without a value.
var flags = []string{"bookmarks", "based", "noinitial", "legacy", "force", "rv"}

// ParseOp reads a line that Op.String printed.
func ParseOp(line string) (Op, error) {
	fields := strings.Fields(line)
	if len(fields) < 2 {
		return Op{}, fmt.Errorf("soak: %q is no op: write CLIENT VERB …, or * for the cluster", line)
	}
	o := Op{Client: fields[0], Verb: fields[1]}
	if o.Client == "*" {
		if troubles[o.Verb] == 0 {
			return Op{}, fmt.Errorf("soak: %q: nothing called %s happens to a cluster: use one of %s", line, o.Verb,
				strings.Join(sorted(troubles), " "))
		}
		o.Words = fields[2:]
		return o, nil
	}
	if work[o.Verb] == 0 {
		return Op{}, fmt.Errorf("soak: %q: clients know no verb %s: use one of %s", line, o.Verb,
			strings.Join(sorted(work), " "))
	}
	o.Args = map[string]string{}
	for _, f := range fields[2:] {
		k, v, ok := strings.Cut(f, "=")
		switch {
		case ok && v == "" && k != "rv":
			return Op{}, fmt.Errorf("soak: %q: %s= has no value", line, k)
		case ok || slices.Contains(flags, f):
			o.Args[k] = v
		default:
			o.Words = append(o.Words, f)
		}
	}
	if err := o.check(); err != nil {
		return Op{}, fmt.Errorf("soak: %q: %w", line, err)
	}
	return o, nil
}

// check reports what is wrong with a client's op.
func (o Op) check() error {
	switch o.Verb {
	case "page", "stop":
		return nil
	}
	if len(o.Words) == 0 || len(o.Words) > 2 {
		return fmt.Errorf("name a resource, and its namespace or key")
	}
	if _, ok := resources[o.Words[0]]; !ok {
		return fmt.Errorf("there is no resource %s here: use one of %s", o.Words[0], strings.Join(sorted(resources), " "))
	}
	if v, ok := o.Args["limit"]; ok {
		if _, err := strconv.Atoi(v); err != nil {
			return fmt.Errorf("limit=%s is no number", v)
		}
	}
	return nil
}

// resource returns the resource and what stands behind it: a namespace, a key, or nothing.
func (o Op) resource() (name, rest string) {
	if len(o.Words) > 1 {
		rest = o.Words[1]
	}
	return o.Words[0], rest
}

// ParseOps reads lines of ops; empty ones, and those that begin with #, are left out.
func ParseOps(text string) ([]Op, error) {
	var out []Op
	for n, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		o, err := ParseOp(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		out = append(out, o)
	}
	return out, nil
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
