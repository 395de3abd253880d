package campaign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// Change is a change of an object, as in the plans of Sieve.
type Change struct {
	Nth  int    // counted from 1, since the preceding step that waits for a change has run
	Verb string // create, update or delete
	Kind string // in lower case, such as statefulset
	Key  string // namespace/name
	// Was and Is are JSON objects with some fields of the object before and after an update, or {}. If Is is {}, the update changes a
	// field of Was. The value SIEVE-NON-NIL matches any value, and SIEVE-IDX-SKIP any item of a list.
	Was, Is string
}

// Matches reports whether a write is such a change. before is nil for a create, and after for a delete.
func (c *Change) Matches(before, after object.Object) bool {
	verb, state := "update", after
	switch {
	case before == nil:
		verb = "create"
	case after == nil:
		verb, state = "delete", before
	}
	if verb != c.Verb || strings.ToLower(state.Kind()) != c.Kind || state.Namespace()+"/"+state.Name() != c.Key {
		return false
	}
	if verb != "update" {
		return true
	}
	var was, is map[string]any
	decode([]byte(c.Was), &was)
	decode([]byte(c.Is), &is)
	if !has(before, was) {
		return false
	}
	if c.Is == none {
		return c.Was == none || !has(after, was)
	}
	return has(after, is) && !has(before, is)
}

// none is the text of a Was or Is without fields.
const none = "{}"

// has reports whether an object has the fields of a pattern.
func has(obj object.Object, pattern map[string]any) bool {
	var value map[string]any
	decode(object.JSON(map[string]any(obj)), &value)
	return contains(value, pattern)
}

// contains reports whether a value has all fields and items of a pattern.
func contains(value, pattern any) bool {
	switch p := pattern.(type) {
	case string:
		if p == "SIEVE-NON-NIL" || p == "SIEVE-IDX-SKIP" {
			return value != nil
		}
	case map[string]any:
		m, ok := value.(map[string]any)
		for name, x := range p { // the order does not matter
			ok = ok && contains(m[name], x)
		}
		return ok
	case []any:
		list, ok := value.([]any)
		for i, x := range p {
			ok = ok && i < len(list) && contains(list[i], x)
		}
		return ok
	}
	return reflect.DeepEqual(value, pattern)
}

// String returns the text form, such as change 1 update statefulset default/db {"spec":{"replicas":2}} {"spec":{"replicas":1}}.
func (c *Change) String() string {
	return fmt.Sprintf("change %d %s %s %s %s %s", c.Nth, c.Verb, c.Kind, c.Key, c.Was, c.Is)
}

// parseChanges parses changes that are separated by the word "or".
func parseChanges(text string) (list []Change, err error) {
	for text != "" {
		words := strings.SplitN(text, " ", 6)
		if len(words) != 6 || words[0] != "change" {
			return nil, fmt.Errorf("%q: use change N VERB KIND NAMESPACE/NAME WAS IS", text)
		}
		c := Change{Verb: words[2], Kind: words[3], Key: words[4]}
		if c.Nth, err = strconv.Atoi(words[1]); err != nil || c.Nth < 1 {
			return nil, fmt.Errorf("%q is not the number of a change: they are counted from 1", words[1])
		}
		if text, err = c.parseFields(words[5]); err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

// parseFields sets Was and Is from the two JSON values at the beginning of text. It returns the text after the word "or" that follows
// them, or "" if nothing follows.
func (c *Change) parseFields(text string) (rest string, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	for _, to := range []*string{&c.Was, &c.Is} {
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return "", fmt.Errorf("the fields of a change: %w", err)
		}
		if *to, err = compact(value); err != nil {
			return "", err
		}
	}
	rest = strings.TrimSpace(text[d.InputOffset():])
	if rest == "" {
		return "", nil
	}
	after, found := strings.CutPrefix(rest, "or ")
	if !found {
		return "", fmt.Errorf("%q follows a change: separate changes with the word or", rest)
	}
	return after, nil
}

// compact returns JSON without spaces, so that it is one word of a step.
func compact(value []byte) (string, error) {
	if len(bytes.TrimSpace(value)) == 0 {
		return none, nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, value); err != nil {
		return "", err
	}
	return strings.ReplaceAll(b.String(), " ", `\u0020`), nil
}
