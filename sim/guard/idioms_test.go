package guard

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

var update = flag.Bool("update", false, "let TestIdioms write testdata/idioms.txt anew")

// idioms are unnatural phrases. Comments and documents are written in plain English: subject, verb, object; programs are "it";
// conditions are sentences; an interface method "implements pkg.Interface".
var idioms = []struct {
	name string
	re   *regexp.Regexp
}{
	{"nobody", regexp.MustCompile(`(?i)\b(nobody|somebody|everybody|whoever|anybody)\b`)},
	{"who", regexp.MustCompile(`(?i)\bwho\b`)},
	{"what-is", regexp.MustCompile(`(?i)\b(what is|what was|those who|those that)\b`)},
	{"begins", regexp.MustCompile(`(?:^|[.!?:;]\s+)(Of|What|Where|Who|Whose)\b`)},
	{"is-of", regexp.MustCompile(`\b(?:is|are) \w+(?:\.\w+)?(?:'s|s')\.?(?:\s|$)`)},
	{"tell", regexp.MustCompile(`(?i)\b(tells?|told|telling)\b`)},
	{"colon", regexp.MustCompile(`(?:\bnil|""|\b0|\bfalse|\bzero|\bempty): `)},
}

const idiomFile = "testdata/idioms.txt"

// TestIdioms counts the idioms in the comments of each package and of each folder of scripts and styles, in each document and lesson,
// and in the page's texts. The counts may only decrease. testdata/idioms.txt contains the current counts, most of them for quotations and function names.
func TestIdioms(t *testing.T) {
	t.Parallel()
	counts := map[string]int{} // "folder idiom" or "document idiom"
	for _, s := range mustSources(t, byHand) {
		if s.dir() == "sim/guard" {
			continue // this file names them
		}
		for _, group := range s.ast.Comments {
			if text := group.Text(); !strings.HasPrefix(text, "Output:") { // else an example prints it
				countIdioms(counts, s.dir(), text)
			}
		}
	}
	all, err := texts()
	if err != nil {
		t.Fatal(err)
	}
	documents, scripts := 0, 0
	for name, data := range all {
		if isScript(name) {
			scripts++
			for _, comment := range scriptComments(string(data)) {
				countIdioms(counts, path.Dir(name), comment)
			}
		}
		if key := documentKey(name); key != "" {
			documents++
			for _, block := range prose(string(data)) {
				countIdioms(counts, key, block)
			}
		}
	}
	if documents < 100 || scripts < 150 {
		t.Errorf("only %d documents and %d scripts: the guard looks in the wrong place", documents, scripts)
	}
	if *update {
		var out strings.Builder
		for _, key := range slices.Sorted(maps.Keys(counts)) {
			fmt.Fprintf(&out, "%s %d\n", key, counts[key])
		}
		if err := os.WriteFile(idiomFile, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, complaint := range idiomComplaints(t, counts) {
		t.Error(complaint)
	}
}

// countIdioms adds the idioms of a text to the counts of a directory or document.
func countIdioms(counts map[string]int, key, text string) {
	text = strings.Join(strings.Fields(text), " ")
	for _, idiom := range idioms {
		if n := len(idiom.re.FindAllString(text, -1)); n > 0 {
			counts[key+" "+idiom.name] += n
		}
	}
}

// idiomComplaints compares the counts with testdata/idioms.txt.
func idiomComplaints(t *testing.T, counts map[string]int) (complaints []string) {
	data, err := os.ReadFile(idiomFile)
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]int{}
	for line := range strings.Lines(string(data)) {
		var key, idiom string
		var n int
		if _, err := fmt.Sscan(line, &key, &idiom, &n); err != nil {
			t.Fatalf("%s: %q: %v", idiomFile, line, err)
		}
		allowed[key+" "+idiom] = n
	}
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		if counts[key] > allowed[key] {
			complaints = append(complaints, fmt.Sprintf("%s: %d times, %d allowed: write a plain sentence; idioms_test.go has the idioms", key, counts[key], allowed[key]))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(allowed)) {
		if counts[key] < allowed[key] {
			complaints = append(complaints, fmt.Sprintf("%s: %d times instead of %d: go test ./sim/guard -run TestIdioms -update", key, counts[key], allowed[key]))
		}
	}
	return complaints
}

// documentKey returns the key under which the idioms of a file are counted: the name of a document, the directory of a lesson, or
// the page's texts. It returns "" for any other file.
func documentKey(name string) string {
	dir, file := path.Split(name)
	switch {
	case strings.HasPrefix(name, "sim/lesson/data/") && (file == "text.en.md" || file == "lesson.yaml"):
		return strings.TrimSuffix(dir, "/")
	case path.Ext(name) == ".md" && !strings.Contains(name, "/testdata/"), name == "web/src/text.en.ts":
		return name
	}
	return ""
}

// isScript reports whether a file is a script or a style sheet of the page or its engine that is written by hand.
func isScript(name string) bool {
	if !strings.HasPrefix(name, "web/") && !strings.HasPrefix(name, "wasm/") || strings.Contains(name, "/dist/") {
		return false
	}
	return slices.Contains([]string{".ts", ".tsx", ".mjs", ".css"}, path.Ext(name)) || name == "web/public/sw.js"
}

var (
	blockComment = regexp.MustCompile(`(?ms)(^|[\s{])/\*(.*?)\*/`)
	lineComment  = regexp.MustCompile(`^(?:(.*)\s)?//(.*)$`)
)

// scriptComments returns the comments of a script or style sheet. Adjacent lines that consist of a comment are one comment, as in Go.
func scriptComments(text string) (comments []string) {
	for _, m := range blockComment.FindAllStringSubmatch(text, -1) {
		comments = append(comments, strings.ReplaceAll(strings.TrimPrefix(m[2], "*"), "\n * ", "\n"))
	}
	adjacent := false
	for line := range strings.Lines(blockComment.ReplaceAllString(text, "$1")) {
		m := lineComment.FindStringSubmatch(strings.TrimSpace(line))
		switch {
		case m == nil:
		case adjacent && m[1] == "":
			comments[len(comments)-1] += "\n" + m[2]
		default:
			comments = append(comments, m[2])
		}
		adjacent = m != nil && m[1] == ""
	}
	return comments
}

func TestScriptComments(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	script := "/** one is\n * a block. */\nconst a = 'https://who' // two\n// three\n//   goes on\nconst b = '*/*' // four\n\n{/* five */} const c = `'*/*'`\n"
	is.Equal(scriptComments(script), []string{" one is\na block. ", " five ", " two", " three\n   goes on", " four"})
	counts := map[string]int{}
	for _, comment := range scriptComments("// Nobody sees\n// it. Who?\nlet x = 1 // What is here.\n/* \"\": none */\n") {
		countIdioms(counts, "web", comment)
	}
	is.Equal(counts, map[string]int{"web begins": 2, "web colon": 1, "web nobody": 1, "web what-is": 1, "web who": 1})
	is.True(isScript("web/src/ui/App.tsx") && isScript("wasm/pack.mjs") && isScript("web/public/sw.js"))
	is.True(!isScript("web/dist/assets/a.css") && !isScript("web/npm/dist/a.ts") && !isScript("examples/learn/a.mjs"))
}

var (
	codeLine = regexp.MustCompile("^(    |\t)[^ ]")
	newBlock = regexp.MustCompile(`^\s*($|#|[-*|] ?|\d+\. |\w+: )`)
	question = regexp.MustCompile(`[^.!?:;|]*\?`)
)

// prose returns the paragraphs, list items and table rows of a document, or the lines of a lesson or of the page's texts. It omits
// code, and questions, which may begin with What.
func prose(text string) (blocks []string) {
	for line := range strings.Lines(fenced.ReplaceAllString(text, "")) {
		if strings.HasPrefix(text, "# ") && codeLine.MatchString(line) {
			continue
		}
		if newBlock.MatchString(line) || len(blocks) == 0 {
			blocks = append(blocks, "")
		}
		blocks[len(blocks)-1] += strings.TrimLeft(newBlock.ReplaceAllString(line, ""), `"'{ `)
	}
	for i, block := range blocks {
		blocks[i] = question.ReplaceAllString(block, "")
	}
	return blocks
}

func TestProse(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	counts := map[string]int{}
	for _, block := range prose("# Who\n\nWhat is it? A\nWhat here.\n\n* What now.\n\n    What code.\n\n```\nWhat code\n```\n| x | nobody |\n") {
		countIdioms(counts, "a.md", block)
	}
	is.Equal(counts, map[string]int{"a.md begins": 2, "a.md nobody": 1, "a.md who": 1}) // a heading, an item and a cell; no question, no code
	counts = map[string]int{}
	for _, block := range prose("id: x\nsteps:\n  - ask: What is it?\n    options:\n    - say: \"Nobody: none\"\n      why: What is there.\n") {
		countIdioms(counts, "x", block)
	}
	is.Equal(counts, map[string]int{"x begins": 1, "x nobody": 1, "x what-is": 1})
}
