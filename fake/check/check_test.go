package check

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
)

// readCase returns the sources of a case and its options. The first line may be "# user: NAME GROUP …".
func readCase(t *testing.T, path string) (*Sources, Options) {
	t.Helper()
	s, err := Read([]string{path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Namespace: "default"}
	first, _, _ := strings.Cut(string(data), "\n")
	if user, ok := strings.CutPrefix(first, "# user: "); ok {
		o.User, o.Groups = strings.Fields(user)[0], strings.Fields(user)[1:]
	}
	return s, o
}

// transcript returns the findings and the servers' complete responses.
func transcript(t *testing.T, r *Report) string {
	var b strings.Builder
	if err := r.Write(&b, "text"); err != nil {
		t.Fatal(err)
	}
	for _, a := range r.Answers {
		for _, v := range a.Verdicts { // order does not matter: there is one
			fmt.Fprintf(&b, "\n%d %s %s\n", v.Code, a.Object, v.Reason)
			texts := append(slices.Clone(v.Warnings), v.Message)
			if len(v.causes) > 1 { // a real server returns some of them in random order
				texts = texts[:len(v.Warnings)]
				for _, c := range v.causes {
					texts = append(texts, c.field+": "+c.message)
				}
				slices.Sort(texts[len(v.Warnings):])
			}
			for _, text := range texts {
				if text != "" {
					fmt.Fprintf(&b, "    %s\n", strings.ReplaceAll(text, "\n", "\n    "))
				}
			}
		}
	}
	return b.String()
}

// answersOf returns the name of the file with a real server's responses to a case.
func answersOf(path, minor string) string {
	return strings.TrimSuffix(path, ".yaml") + "." + minor + ".txt"
}

// TestCases compares the responses to each case with those of real servers, which TestRecord has recorded.
func TestCases(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/cases/*.yaml")
	if err != nil || len(paths) < 40 {
		t.Fatalf("%d cases, %v", len(paths), err)
	}
	for _, path := range paths {
		for _, minor := range []string{"1.36", "1.37"} {
			want, err := os.ReadFile(answersOf(path, minor))
			if err != nil {
				t.Error(err)
				continue
			}
			sources, o := readCase(t, path)
			o.Minors = []string{minor}
			r, err := Run(sources, o)
			if err != nil {
				t.Fatal(err)
			}
			if have := transcript(t, r); have != string(want) {
				t.Errorf("%s on %s\nhave:\n%s\nwant:\n%s", path, minor, have, want)
			}
		}
	}
}

// TestRecord sends the cases to the real server at KUBESIM_TARGET, and records the responses that are missing. The server must be
// new (make real).
func TestRecord(t *testing.T) {
	target := Target{URL: os.Getenv("KUBESIM_TARGET"), Transport: http.DefaultTransport, Token: os.Getenv("KUBESIM_TOKEN"), Pause: 3 * time.Second}
	if target.URL == "" {
		t.Skip("KUBESIM_TARGET is not set")
	}
	is := is.New(t)
	paths, err := filepath.Glob("testdata/cases/*.yaml")
	is.NoErr(err)
	minor, err := target.Minor()
	is.NoErr(err)
	for _, path := range paths {
		if _, err := os.Stat(answersOf(path, minor)); err == nil {
			continue
		}
		sources, o := readCase(t, path)
		r, err := RunOn(target, sources, o)
		is.NoErr(err)
		is.NoErr(os.WriteFile(answersOf(path, minor), []byte(transcript(t, r)), 0o644))
		t.Log(path, r.Summary())
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := &Sources{}
	s.data("x.yaml", []byte("# a comment\n---\nkind: Pod\napiVersion: v1\nmetadata:\n  name: a\n  annotations: {a.b/c: d}\nspec:\n  containers:\n"+
		"  - name: x\n  - name: y\n    ports:\n    - {containerPort: 1}\n"), true)
	is.Equal(len(s.Objects), 1)
	for _, c := range []struct {
		field        string
		line, column int
	}{
		{"metadata.name", 6, 9},
		{"metadata.annotations[a.b/c]", 7, 24},
		{".spec.containers[1].name", 11, 11},
		{"spec.containers[1].image", 11, 5},             // the item, which has no such field
		{"spec.containers.ports.containerPort", 13, 23}, // without an index
		{"spec.containers[1].ports[0].hostPort", 13, 7}, // the nearest parent
		{"spec.volumes[0].name", 8, 1},                  // the same
		{"spec.containers[7].name", 9, 3},               // there is no such item
		{"status", 3, 1}, {"", 3, 1}, {"spec", 8, 1},
	} {
		line, column := s.Objects[0].position(c.field, false)
		is.Equal([]int{line, column}, []int{c.line, c.column}) // the position of c.field
	}
}

// TestFormats checks that the report contains all findings in each format.
func TestFormats(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s, err := Read([]string{"-"}, strings.NewReader("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\ndata: {\"100%\": x}\n"))
	is.NoErr(err)
	r, err := Run(s, Options{Minors: []string{"1.35", "1.36"}})
	is.NoErr(err)
	format := func(name string) string {
		var b strings.Builder
		is.NoErr(r.Write(&b, name))
		return b.String()
	}
	is.Equal(format("github"), "::notice file=-,line=3,col=32,title=kubesim check::ConfigMap shop/a: no file defines the namespace shop, so it was created\n"+
		"::error file=-,line=4,col=16,title=kubesim check::ConfigMap shop/a: data[100%25]: Invalid value: \"100%25\": a valid config key must consist of "+
		"alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')\n")
	sarif, err := object.Parse([]byte(format("sarif")))
	is.NoErr(err)
	results := sarif.Objects("runs")[0].Objects("results")
	is.Equal(len(results), 2)
	is.Equal(results[1].String("ruleId"), "Invalid")
	is.Equal(results[1].Objects("locations")[0].Int64("physicalLocation", "region", "startLine"), int64(4))
	report, err := object.Parse([]byte(format("json")))
	is.NoErr(err)
	is.Equal(report.Int64("refused"), int64(1))
	is.Equal(report.Objects("objects")[0].Int64("verdicts", "1.35", "code"), int64(422))
	is.Equal(report.Objects("findings")[1].Strings("minors"), []string{"1.35", "1.36"})
	is.True(r.Write(io.Discard, "xml") != nil) // there is no such format
}

// TestPaths checks which files of a folder are read, and the messages about the other ones.
func TestPaths(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	dir := t.TempDir()
	write := func(name, text string) {
		is.NoErr(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		is.NoErr(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	write("a/b.yaml", object+"---\n# empty\n---\nreplicas: 3\n")
	write("a/list.json", "{\"apiVersion\": \"v1\", \"kind\": \"List\",\n\t\"items\": [{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\",\n\t\t\"metadata\": {\"name\": \"B\"}}]}")
	write("a/broken.yaml", object+"---\na: [\n")
	write("a/notes.txt", "no YAML")
	write(".git/x.yaml", "no: object")
	write("chart/Chart.yaml", "name: chart")
	write("chart/templates/x.yaml", "{{ . }}")
	write("overlay/kustomization.yaml", "resources: [x.yaml]\nnamePrefix: Big-\n")
	write("overlay/x.yaml", object)
	link := filepath.Join(t.TempDir(), "link")
	is.NoErr(os.Symlink(dir, link))
	linked, err := Read([]string{link}, nil)
	is.NoErr(err)
	s, err := Read([]string{dir}, nil)
	is.NoErr(err)
	is.Equal(len(linked.Objects), len(s.Objects))
	r, err := Run(s, Options{})
	is.NoErr(err)
	var have []string
	for _, f := range r.Findings {
		message, _, _ := strings.Cut(f.Message, ": a lowercase")
		have = append(have, strings.TrimPrefix(f.place(), dir+"/")+" "+string(f.Level)+" "+f.Object+" "+strings.ReplaceAll(message, dir, "DIR"))
	}
	is.Equal(have, []string{
		"a/b.yaml:7:1 note  it has no apiVersion and kind, so it was skipped",
		"a/broken.yaml:3:18 warning ConfigMap a it is also defined at DIR/a/b.yaml:1, and was applied over that",
		"a/broken.yaml:5 error  yaml: did not find expected node content",
		`a/list.json:3:24 error ConfigMap B metadata.name: Invalid value: "B"`,
		"chart/Chart.yaml error  a Helm chart is not rendered: run helm template DIR/chart | kubesim check -",
		`overlay/kustomization.yaml error ConfigMap Big-a metadata.name: Invalid value: "Big-a"`,
	})
}

// BenchmarkRun checks 500 manifests, about half of which are refused.
func BenchmarkRun(b *testing.B) {
	var text strings.Builder
	for i := range 500 {
		fmt.Fprintf(&text, "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web-%d}\nspec:\n  selector: {matchLabels: {app: web}}\n"+
			"  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: web, image: nginx, ports: [{containerPort: %d}]}]}\n", i, 65300+i)
	}
	for b.Loop() {
		s, err := Read([]string{"-"}, strings.NewReader(text.String()))
		if err != nil {
			b.Fatal(err)
		}
		r, err := Run(s, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if r.Refused != 264 {
			b.Fatalf("%d of 500 are refused", r.Refused)
		}
	}
}
