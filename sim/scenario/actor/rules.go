package actor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/scenario/condition"
	"github.com/kubesim/kubesim/sim/spelling"
)

// Rules are the rules of a controller, parsed from YAML:
//
//	watch: [widgets.example.com, pods]    # kept in caches; the resources of rules are added automatically
//	resync: 30s                           # enqueue all objects at this interval; if missing, only events enqueue objects
//	rules:
//	- name: child                         # for the transcript
//	  for: widgets.example.com            # handles each of these objects, as in the controller's cache
//	  when:                               # all conditions must hold; see package condition. Objects are read from the caches
//	  - .metadata.deletionTimestamp absent
//	  - count pods -l owner={{name}} < {{.spec.replicas}}
//	  range: .spec.replicas               # repeat for each number below this one, as {{i}}; if missing, run once
//	  do:                                 # requests, one after the other. If one fails, the rest is skipped and the
//	  - create -f pod.yaml                # object is handled again after a back-off
//	  - patch widgets {{name}} --subresource status -p '{"status":{"phase":"Made"}}'
//
// {{.metadata.name}} is a field of the object; {{name}}, {{namespace}}, {{uid}} and {{rv}} are abbreviations. {{i}} is
// the number in a range, {{now}} the time on the controller's clock, and {{me}} the controller's name. {{count pods}}
// and {{nodes/a .spec.x}} are values as in a condition. Conditions, requests and their manifests may contain
// placeholders.
type Rules struct {
	Watch  []string
	Resync time.Duration
	Rules  []Rule
}

// Rule is a rule of a controller: for which objects and under which conditions it sends which requests.
type Rule struct {
	Name, For, Range string
	When, Do         []string
}

// ParseRules parses the rules of a controller. checkLine returns an error if a line is not a request that a rule may
// send.
func ParseRules(text string, checkLine func(line string) error) (*Rules, error) {
	data, err := codec.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("the rules cannot be read as YAML: %w", err)
	}
	obj, err := object.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("rules are an object with watch and rules: %w", err)
	}
	if err := onlyFields(obj, "the rules", "watch", "resync", "rules"); err != nil {
		return nil, err
	}
	out := &Rules{}
	if out.Watch, err = texts(obj, "watch"); err != nil {
		return nil, err
	}
	if resync, ok := obj["resync"]; ok {
		if out.Resync, err = time.ParseDuration(condition.Show(resync)); err != nil || out.Resync < time.Second {
			return nil, fmt.Errorf("resync is a duration of a second or more, such as 30s; not %q", condition.Show(resync))
		}
	}
	list, _ := obj["rules"].([]any)
	if len(list) == 0 {
		return nil, fmt.Errorf("there are no rules: give at least one, with for and do")
	}
	for i, x := range list {
		r, err := parseRule(object.As(x), checkLine)
		if err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
		r.Name = cmp.Or(r.Name, fmt.Sprint(i+1))
		out.Rules = append(out.Rules, r)
		if !slices.Contains(out.Watch, r.For) {
			out.Watch = append(out.Watch, r.For)
		}
	}
	return out, nil
}

func parseRule(obj object.Object, checkLine func(line string) error) (Rule, error) {
	if err := onlyFields(obj, "a rule", "name", "for", "when", "range", "do"); err != nil {
		return Rule{}, err
	}
	r := Rule{Name: obj.String("name"), For: obj.String("for"), Range: obj.String("range")}
	var err error
	if r.When, err = texts(obj, "when"); err != nil {
		return r, err
	}
	if r.Do, err = texts(obj, "do"); err != nil {
		return r, err
	}
	if r.For == "" || len(r.Do) == 0 {
		return r, fmt.Errorf("a rule needs a resource in for, and requests in do")
	}
	for _, text := range r.When {
		if _, err := condition.Parse(text, 0); err != nil {
			return r, fmt.Errorf("when %s: %w", text, err)
		}
	}
	for _, line := range r.Do {
		if err := checkLine(line); err != nil {
			return r, err
		}
	}
	if r.Range != "" {
		if _, err := condition.ParseValue(r.Range, 0); err != nil {
			return r, fmt.Errorf("range %s: %w", r.Range, err)
		}
	}
	for _, text := range append(append(slices.Clone(r.When), r.Do...), r.Range) {
		if _, err := replacePlaceholders(text, checkPlaceholder); err != nil {
			return r, err
		}
	}
	return r, nil
}

// onlyFields returns an error if obj has unknown fields.
func onlyFields(obj object.Object, noun string, names ...string) error {
	if obj == nil {
		return fmt.Errorf("%s is an object with %s", noun, strings.Join(names, ", "))
	}
	for _, name := range object.SortedKeys(obj) {
		if !slices.Contains(names, name) {
			return fmt.Errorf("%s has no %q%s", noun, name, spelling.Meant(name, names))
		}
	}
	return nil
}

// texts returns the strings in a field. A single string counts as a list of one.
func texts(obj object.Object, name string) ([]string, error) {
	switch v := obj[name].(type) {
	case nil:
		return nil, nil
	case string:
		return []string{v}, nil
	case []any:
		out := object.Strings(v)
		if len(out) == len(v) {
			return out, nil
		}
	}
	return nil, fmt.Errorf("%s is a list of texts; put quotes around values that YAML does not read as text", name)
}

// shorts maps abbreviated placeholders to fields.
var shorts = map[string]string{"name": ".metadata.name", "namespace": ".metadata.namespace", "uid": ".metadata.uid",
	"rv": ".metadata.resourceVersion"}

// checkPlaceholder returns an error if inner, the text between {{ and }}, is invalid. The returned string is always empty, and
// exists only so that the function can be passed to replacePlaceholders.
func checkPlaceholder(inner string) (string, error) {
	if inner == "i" || inner == "now" || inner == "me" || shorts[inner] != "" {
		return "", nil
	}
	if _, err := condition.ParseValue(inner, 0); err != nil {
		return "", fmt.Errorf("{{%s}}: %w", inner, err)
	}
	return "", nil
}

// replacePlaceholders replaces each {{…}} with the result of f.
func replacePlaceholders(text string, f func(inner string) (string, error)) (string, error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{{")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		inner, after, found := strings.Cut(rest, "}}")
		if !found {
			return "", fmt.Errorf("{{ has no end in %q; put }} after it", "{{"+rest)
		}
		value, err := f(strings.TrimSpace(inner))
		if err != nil {
			return "", err
		}
		out.WriteString(value)
		text = after
	}
}
