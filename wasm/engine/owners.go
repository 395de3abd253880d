package engine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// ownersView shows which field managers own each line of an object.
//
//	managers                               lines
//	A kubectl  Apply   f:data f:color      AB  color: red
//	B painter  Update  f:data f:color      A   size: "3"
type ownersView struct {
	Rev      string        `json:"rv"`
	Managers []ownerView   `json:"managers"`
	Lines    []ownedLine   `json:"lines"`
	Paths    []ownedFields `json:"paths"`
}

// ownerView is one entry of metadata.managedFields.
type ownerView struct {
	Letter      string `json:"letter"`
	Name        string `json:"name"`
	Operation   string `json:"operation"`
	Subresource string `json:"subresource,omitempty"`
	Time        string `json:"time,omitempty"`
	APIVersion  string `json:"apiVersion"`
	Fields      int    `json:"fields"` // number of owned fields
}

type ownedLine struct {
	Text     string   `json:"text"`
	Managers []string `json:"managers"` // letters of the managers; empty if no manager owns the line, or if it only introduces a nested value
}

type ownedFields struct {
	Path     string   `json:"path"` // in the format of error messages: .spec.ports[{"port":80}].name
	Managers []string `json:"managers"`
}

// owner is a manager at a position in the object.
type owner struct {
	letter string
	fields map[string]any // FieldsV1 at this position
	whole  bool           // the manager owns the value and everything below it
}

// owners returns the managers of each line of obj. The lines do not contain managedFields.
func owners(obj object.Object, rev string) *ownersView {
	v := &ownersView{Rev: rev, Managers: []ownerView{}, Lines: []ownedLine{}, Paths: []ownedFields{}}
	var all []owner
	at := map[string]int{}
	for i, o := range obj.Objects("metadata", "managedFields") {
		letter, fields := letterOf(i), o.Map("fieldsV1")
		v.addPaths(at, "", letter, fields)
		v.Managers = append(v.Managers, ownerView{Letter: letter, Name: o.String("manager"), Operation: o.String("operation"),
			Subresource: o.String("subresource"), Time: o.String("time"), APIVersion: o.String("apiVersion")})
		all = append(all, owner{letter: letter, fields: fields})
	}
	v.countFields()
	shown := obj.Copy()
	shown.Remove("metadata", "managedFields")
	for _, l := range yamlLines(map[string]any(shown)) {
		v.Lines = append(v.Lines, ownedLine{l.text, lettersAt(all, map[string]any(shown), l.path)})
	}
	return v
}

// countFields sets the number of fields that each manager owns.
func (v *ownersView) countFields() {
	for i := range v.Managers {
		for _, p := range v.Paths {
			if slices.Contains(p.Managers, v.Managers[i].Letter) {
				v.Managers[i].Fields++
			}
		}
	}
}

// letterOf returns the letter of manager i: A to Z, then A1, B1 and so on.
func letterOf(i int) string {
	letter := string(rune('A' + i%26))
	if i >= 26 {
		letter += strconv.Itoa(i / 26)
	}
	return letter
}

// lettersAt returns the letters of the managers that own the value at a path in v.
func lettersAt(all []owner, v any, path []any) []string {
	for _, step := range path {
		var element string
		v, element = stepInto(v, step)
		all = descend(all, element, v)
	}
	letters := []string{}
	for _, o := range all {
		if o.whole {
			letters = append(letters, o.letter)
		}
	}
	return letters
}

// stepInto returns the value one step below v, and the key of that step in FieldsV1: "f:name", or "" for a list element, which
// FieldsV1 identifies by its merge keys or value.
func stepInto(v any, step any) (any, string) {
	switch v := v.(type) {
	case map[string]any:
		return v[step.(string)], "f:" + step.(string)
	case []any:
		return v[step.(int)], ""
	}
	return nil, ""
}

// descend returns those of the owners that also own v, a field or a list element one level below. element is the key of v in
// FieldsV1, or "" for a list element.
func descend(all []owner, element string, v any) []owner {
	var out []owner
	for _, o := range all {
		if o.whole && len(o.fields) == 0 {
			out = append(out, o)
			continue
		}
		for _, key := range object.SortedKeys(o.fields) {
			if key != element && !(element == "" && isElement(key, v)) {
				continue
			}
			below, _ := o.fields[key].(map[string]any)
			_, self := below["."]
			out = append(out, owner{o.letter, below, len(below) == 0 || self})
			break
		}
	}
	return out
}

// isElement reports whether a FieldsV1 key identifies the list element v, either by its merge keys, as k:{"port":80}, or by its
// value, as v:"a".
func isElement(key string, v any) bool {
	kind, literal, _ := strings.Cut(key, ":")
	want, err := object.ParseValue([]byte(literal))
	if err != nil {
		return false
	}
	switch kind {
	case "v":
		return object.Equal(want, v)
	case "k":
		have, ok := v.(map[string]any)
		keys, ok2 := want.(map[string]any)
		if !ok || !ok2 {
			return false
		}
		for name, value := range keys { // order does not matter: all of them must be equal
			if !object.Equal(value, have[name]) {
				return false
			}
		}
		return true
	}
	return false
}

// addPaths appends the fields below path that a manager owns. at maps a path to its index in v.Paths.
func (v *ownersView) addPaths(at map[string]int, path, letter string, fields map[string]any) {
	for _, key := range object.SortedKeys(fields) {
		if key == "." {
			continue
		}
		below, _ := fields[key].(map[string]any)
		here := path + pathStep(key)
		if _, self := below["."]; self || len(below) == 0 {
			i, known := at[here]
			if !known {
				i = len(v.Paths)
				at[here] = i
				v.Paths = append(v.Paths, ownedFields{Path: here})
			}
			v.Paths[i].Managers = append(v.Paths[i].Managers, letter)
		}
		v.addPaths(at, here, letter, below)
	}
}

// pathStep returns a FieldsV1 key in the format of error messages.
func pathStep(key string) string {
	kind, rest, _ := strings.Cut(key, ":")
	if kind == "f" {
		return "." + rest
	}
	return "[" + rest + "]"
}
