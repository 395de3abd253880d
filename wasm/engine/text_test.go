package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/linediff"
	"github.com/kubesim/kubesim/sim/object"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var got []string
	for _, l := range diff("a\nb\nc\nd\n", "a\nx\nc\ny\nd\n") {
		got = append(got, l.Op+l.Text)
	}
	is.Equal(strings.Join(got, "|"), " a|-b|+x| c|+y| d") // removed before added, common lines once
	is.Equal(len(diff("", "")), 0)                        // two empty texts have no lines
}

// FuzzDiff checks that the lines without "+" are the old text, and that those without "-" are the new one.
func FuzzDiff(f *testing.F) {
	f.Add("a\nb\n", "b\nc\n")
	f.Add("", "x")
	f.Fuzz(func(t *testing.T, before, after string) {
		var old, new []string
		for _, l := range diff(before, after) {
			if l.Op != "+" {
				old = append(old, l.Text)
			}
			if l.Op != "-" {
				new = append(new, l.Text)
			}
		}
		if strings.Join(old, "\n") != strings.Join(linediff.Lines(before), "\n") || strings.Join(new, "\n") != strings.Join(linediff.Lines(after), "\n") {
			t.Errorf("the difference of %q and %q does not lead from one to the other", before, after)
		}
	})
}

func TestOpenToken(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	const token = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NDAwNywic3RhcnQiOiIvZGVmYXVsdC9iXHUwMDAwIn0"
	v, err := openToken(token, 4007)
	is.NoErr(err)
	is.Equal(*v, tokenView{Version: "meta.k8s.io/v1", Rev: "4007", Start: "default/b"}) // the revision is still there
	v, err = openToken(token, 4008)
	is.NoErr(err)
	is.True(v.Expired) // the store has forgotten revision 4007
	_, err = openToken("next", 0)
	is.True(strings.Contains(err.Error(), "not a continue token")) // says what it is not
}

// FuzzYAMLLines checks that the path of each line leads to the value that the line shows.
func FuzzYAMLLines(f *testing.F) {
	f.Add(`{"a":{"b":[{"c":1,"d":[]},[1,"x"],{}],"e":"two\nlines\n"},"on":null,"f":"- x","a10":{"x":1},"a2":[2]}`)
	f.Add(`{"data":{"k":" lead\n\n  x","long":"` + strings.Repeat("word ", 60) + `"},"z":[["a"],[{"b":[{"c":"d\ne"}]}]]}`)
	f.Fuzz(func(t *testing.T, text string) {
		obj, err := object.Parse([]byte(text))
		if err != nil || strings.HasPrefix(yamlText(map[string]any(obj)), "apiVersion: v1\n") {
			t.Skip() // no object, or a Status: some strings cannot be YAML
		}
		for _, l := range yamlLines(map[string]any(obj)) {
			if !leadsTo(map[string]any(obj), l.path) {
				t.Errorf("%s: %q is said to be at %v", text, l.text, l.path)
			}
		}
	})
}

func leadsTo(v any, path []any) bool {
	for _, step := range path {
		switch at := v.(type) {
		case map[string]any:
			next, ok := at[step.(string)]
			if !ok {
				return false
			}
			v = next
		case []any:
			v = at[step.(int)]
		default:
			return false
		}
	}
	return true
}

func TestYAMLLines(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	obj, err := object.Parse([]byte(`{"a10":[{"m":"x\n\ny\n","n":[[1],{}]}],"a2":{"yes":"` + strings.Repeat("word ", 20) + `"}}`))
	is.NoErr(err)
	var got []string
	for _, l := range yamlLines(map[string]any(obj)) {
		got = append(got, strings.TrimSpace(l.text[:min(len(l.text), 16)])+" "+fmt.Sprint(l.path))
	}
	is.Equal(strings.Join(got, "\n"), strings.TrimSpace(`
a2: [a2]
"yes": 'word w [a2 yes]
word word wo [a2 yes]
a10: [a10]
- m: | [a10 0 m]
x [a10 0 m]
 [a10 0 m]
y [a10 0 m]
"n": [a10 0 n]
- - 1 [a10 0 n 0 0]
- {} [a10 0 n 1]`)) // in the order of the text, broken values included
}

func TestOwners(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	obj, err := object.Parse([]byte(`{"kind":"Service","metadata":{"name":"s","managedFields":[
		{"manager":"kubectl","operation":"Apply","apiVersion":"v1","fieldsV1":{"f:spec":{"f:ports":{"k:{\"port\":80}":{".":{},"f:name":{},"f:port":{}}},
			"f:selector":{}}}},
		{"manager":"mesh","operation":"Update","apiVersion":"v1","subresource":"status","fieldsV1":{"f:metadata":{"f:finalizers":{".":{},"v:\"mesh\"":{}}},
			"f:spec":{"f:ports":{"k:{\"port\":80}":{"f:name":{}}}}}}],"finalizers":["mesh"]},
		"spec":{"ports":[{"name":"http","port":80},{"name":"tls","port":443}],"selector":{"app":"x"}}}`))
	is.NoErr(err)
	v := owners(obj, "7")
	var lines []string
	for _, l := range v.Lines {
		lines = append(lines, strings.Join(l.Managers, "")+"|"+l.Text)
	}
	is.Equal(strings.Join(lines, "\n"), strings.TrimSpace(`
|kind: Service
|metadata:
B|  finalizers:
B|  - mesh
|  name: s
|spec:
|  ports:
AB|  - name: http
A|    port: 80
|  - name: tls
|    port: 443
A|  selector:
A|    app: x`)) // elements are found by their keys; the fields below a leaf belong to its owner
	is.Equal(v.Managers[0].Fields, 4)                                   // ports[80], its name and port, selector
	is.Equal(v.Managers[1].Letter+v.Managers[1].Subresource, "Bstatus") // letters in the order of the entries
	is.Equal(v.Paths[1].Path, `.spec.ports[{"port":80}].name`)          // as an error would print it
	is.Equal(strings.Join(v.Paths[1].Managers, ""), "AB")               // shared by both
	is.Equal(len(owners(object.Object{"kind": "X"}, "1").Managers), 0)  // no field has an owner
}
