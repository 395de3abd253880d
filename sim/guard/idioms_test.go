package guard

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "let TestIdioms write testdata/idioms.txt anew")

// idioms are turns of phrase that a reader stumbles over. Comments are written in plain English: subject, verb, object; programs are
// "it"; conditions are sentences; an interface method "implements pkg.Interface".
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

// TestIdioms counts the idioms in the comments of each package. The counts may only fall: testdata/idioms.txt has what is left, most of it
// quotations and names of functions.
func TestIdioms(t *testing.T) {
	t.Parallel()
	counts := map[string]int{} // "folder idiom"
	for _, s := range mustSources(t, byHand) {
		if s.dir() == "sim/guard" {
			continue // this file names them
		}
		for _, group := range s.ast.Comments {
			text := strings.Join(strings.Fields(group.Text()), " ")
			if strings.HasPrefix(text, "Output: ") {
				continue // an example prints it
			}
			for _, idiom := range idioms {
				if n := len(idiom.re.FindAllString(text, -1)); n > 0 {
					counts[s.dir()+" "+idiom.name] += n
				}
			}
		}
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
	data, err := os.ReadFile(idiomFile)
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]int{}
	for line := range strings.Lines(string(data)) {
		var dir, idiom string
		var n int
		if _, err := fmt.Sscan(line, &dir, &idiom, &n); err != nil {
			t.Fatalf("%s: %q: %v", idiomFile, line, err)
		}
		allowed[dir+" "+idiom] = n
	}
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		if counts[key] > allowed[key] {
			t.Errorf("%s: %d comments, %d allowed: write a plain sentence; idioms_test.go has the idioms", key, counts[key], allowed[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(allowed)) {
		if counts[key] < allowed[key] {
			t.Errorf("%s: %d comments in place of %d: go test ./sim/guard -run TestIdioms -update", key, counts[key], allowed[key])
		}
	}
}
