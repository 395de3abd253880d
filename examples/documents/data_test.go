package documents

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/lesson"
)

// shown are blocks that these tests do not run, with the reason why they are correct anyway.
var shown = []struct{ document, kind, begins, reason string }{
	{"README.md", "text", "seed 10 fails", "TestReadme of examples/explore finds this report"},
	{"examples/migrate/README.md", "diff", "", "TestGuide of examples/migrate compares them with its files"},
	{"fake/guide/check.md", "text", "deploy/old.yaml:1:13", "TestGuide of fake/check compares it with the output"},
	{"fake/guide/check.md", "yaml", "files:", "TestGuide of fake/check runs the tests"},
	{"fake/guide/gotest.md", "text", "kubesim gotest: example.com/operator/internal/controller", "TestRecord of fake/gotest prints it"},
	{"fake/guide/gotest.md", "text", "kubesim gotest: example.com/operator/e2e failed", "its package and program are examples; run.finish of fake/gotest prints it"},
	{"fake/guide/gotest.md", "text", "3 of 100 seeds", "TestRepeat of fake/gotest finds such lines"},
	{"fake/guide/gotest.md", "text", "2 of 100 seeds", "TestSwarm of fake/gotest finds such lines"},
	{"fake/guide/gotest.md", "text", "$ kubesim gotest --repeat 100", "lws is another project; TestRepeat of fake/gotest finds such lines"},
	{"fake/guide/envtest.md", "text", "KUBEBUILDER_ASSETS=$(kubesim envtest) kubectl kuttl", "kuttl is another project's program"},
	{"fake/guide/envtest.md", "text", "kubesim serve --nodes 3 --speed 60", "TestSpeed of fake/cmd/kubesim; chainsaw and kuttl are other projects' programs"},
	{"sim/lesson/README.md", "yaml", "title:", "parts are left out; TestTranslations of sim/lesson has whole ones"},
	{"web/npm/README.md", "js", "import", "web/npm/test/package.test.mjs runs them; here node reads them"},
}

// isShown reports whether a block is one of shown.
func isShown(d Document, b Block) bool {
	for _, s := range shown {
		if s.document == d.Name && s.kind == b.Kind && strings.HasPrefix(b.Text, s.begins) {
			return true
		}
	}
	return false
}

// TestKinds checks that each block has a kind for which a test is responsible.
func TestKinds(t *testing.T) {
	t.Parallel()
	tested := []string{"go", "console", "sh", "txtar", "yaml", "json", "js", "html", "fault"}
	for _, d := range all(t) {
		for _, b := range d.Blocks {
			switch {
			case b.Kind == "console" && !strings.HasPrefix(b.Text, "$ "):
				t.Errorf("%s:%d: a session begins with a command: $ and a space before it", d.Name, b.Line)
			case slices.Contains(tested, b.Kind), isShown(d, b), isExcerpt(d, b), b.Kind == "text" && isDrawing(b.Text):
			case b.Kind == "text" || b.Kind == "diff":
				t.Errorf("%s:%d: no test compares this with what really happens: give it another kind, or a line in shown (examples/documents/data_test.go)", d.Name, b.Line)
			default:
				t.Errorf("%s:%d: the kind of this block is %q: say %s, or text for a drawing", d.Name, b.Line, b.Kind, strings.Join(tested, ", "))
			}
		}
	}
	for _, s := range shown {
		if d, err := Open(root, s.document); err != nil {
			t.Error(err)
		} else if _, err := d.Block(s.kind, s.begins); err != nil {
			t.Errorf("%v: take its line out of shown (examples/documents/data_test.go)", err)
		}
	}
}

func isDrawing(text string) bool { return strings.ContainsAny(text, "─│▶▼") }

// fileName matches the name of a file in a drawing.
var fileName = regexp.MustCompile(`(^|\s)([\w./-]+\.(go|mjs|tsx?|txtar|yaml))\b`)

// TestDrawings checks that the files that drawings name exist below the document's directory or that of the page.
func TestDrawings(t *testing.T) {
	t.Parallel()
	for _, d := range all(t) {
		for _, b := range d.Blocks {
			if b.Kind != "text" || !isDrawing(b.Text) {
				continue
			}
			for _, m := range fileName.FindAllStringSubmatch(b.Text, -1) {
				own := filepath.Join(root, filepath.Dir(d.Name))
				if !exists(filepath.Join(own, m[2])) && !exists(filepath.Join(own, "src", m[2])) && !exists(filepath.Join(root, m[2])) {
					t.Errorf("%s:%d: there is no %s", d.Name, b.Line, m[2])
				}
			}
		}
	}
}

// TestScenarios runs the scenarios of all documents, including those in the attribute of an HTML element.
func TestScenarios(t *testing.T) {
	t.Parallel()
	tools := newTools(t)
	attribute := regexp.MustCompile(`(?s)scenario="(.*?)"`)
	for _, d := range all(t) {
		for _, b := range d.Blocks {
			var texts []string
			if b.Kind == "txtar" {
				texts = append(texts, b.Text)
			}
			if b.Kind == "html" {
				for _, m := range attribute.FindAllStringSubmatch(b.Text, -1) {
					texts = append(texts, m[1]+"\n")
				}
			}
			for _, text := range texts {
				file := filepath.Join(t.TempDir(), "a.txtar")
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				if out, err := tools.bash(t, d, "kubesim run '"+file+"'").CombinedOutput(); err != nil {
					t.Errorf("%s:%d: the scenario fails: %v\n%s", d.Name, b.Line, err, out)
				}
			}
		}
	}
}

// TestFaults parses each line of a fault block up to the explanation, which is separated by two spaces.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, d := range all(t) {
		for _, b := range d.Blocks {
			if b.Kind != "fault" {
				continue
			}
			for line := range strings.Lines(b.Text) {
				text, _, _ := strings.Cut(strings.TrimSpace(line), "  ")
				if _, err := fault.Parse(text); err != nil {
					t.Errorf("%s:%d: %s: %v", d.Name, b.Line, text, err)
				}
			}
		}
	}
}

// TestYAML creates the objects in YAML and JSON blocks, and takes lessons with their own solutions.
func TestYAML(t *testing.T) {
	t.Parallel()
	for _, d := range all(t) {
		for _, b := range d.Blocks {
			if b.Kind != "yaml" && b.Kind != "json" {
				continue
			}
			var is struct{ APIVersion, Kind, ID string }
			if err := yaml.Unmarshal([]byte(b.Text), &is); err != nil {
				t.Errorf("%s:%d: %v", d.Name, b.Line, err)
				continue
			}
			switch {
			case isShown(d, b):
			case is.APIVersion != "" && is.Kind != "":
				createObjects(t, d, b)
			case is.ID != "":
				takeLesson(t, d, b)
			default:
				t.Errorf("%s:%d: this is neither an object nor a lesson: add a case to TestYAML, or a line to shown (examples/documents/data_test.go)", d.Name, b.Line)
			}
		}
	}
}

// createObjects applies the objects of a block to a separate server.
func createObjects(t *testing.T, d Document, b Block) {
	t.Helper()
	tools := newTools(t)
	apply := tools.bash(t, d, "kubectl --server "+tools.serve(t, nil)+" apply --validate=strict -f -")
	apply.Stdin = strings.NewReader(b.Text)
	if out, err := apply.CombinedOutput(); err != nil {
		t.Errorf("%s:%d: %v\n%s", d.Name, b.Line, err, out)
	}
}

func takeLesson(t *testing.T, d Document, b Block) {
	t.Helper()
	l, err := lesson.Parse([]byte(b.Text), nil)
	if err != nil {
		t.Errorf("%s:%d: %v", d.Name, b.Line, err)
		return
	}
	if _, broken := lesson.Rehearse(l); broken != nil {
		t.Errorf("%s:%d: the lesson cannot be solved: %+v", d.Name, b.Line, *broken)
	}
}

// TestJavaScript parses the JavaScript blocks with node.
func TestJavaScript(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("the syntax of JavaScript is checked by node, which is not installed (https://nodejs.org)")
	}
	for _, d := range all(t) {
		for _, b := range d.Blocks {
			if b.Kind != "js" {
				continue
			}
			if !isShown(d, b) {
				t.Errorf("%s:%d: no test runs this: write one, and add a line to shown (examples/documents/data_test.go)", d.Name, b.Line)
			}
			file := filepath.Join(t.TempDir(), "a.mjs")
			if err := os.WriteFile(file, []byte(b.Text), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("node", "--check", file).CombinedOutput(); err != nil {
				t.Errorf("%s:%d: %v\n%s", d.Name, b.Line, err, out)
			}
		}
	}
}
