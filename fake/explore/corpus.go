package explore

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/fake/explore/campaign"
)

// corpusDir is where plans are kept under which a test failed, a folder for each test.
const corpusDir = "testdata/kubesim"

const planExt = ".plan"

// corpus returns the files of plans under which a test has failed, in the order of their names.
func corpus(test string) []string {
	files, _ := filepath.Glob(filepath.Join(testDir(test), "*"+planExt)) // the pattern is right
	slices.Sort(files)
	return files
}

var unsafeInNames = regexp.MustCompile(`[^A-Za-z0-9_/.-]+`)

// testDir is the folder of a test.
func testDir(test string) string {
	return filepath.Join(corpusDir, filepath.FromSlash(unsafeInNames.ReplaceAllString(test, "_")))
}

// save writes a plan to a file and returns the file's name, or "" if it cannot be written.
func save(test string, p campaign.Plan, why string) string {
	text := p.String()
	h := fnv.New64a()
	h.Write([]byte(text))
	file := filepath.Join(testDir(test), fmt.Sprintf("%016x%s", h.Sum64(), planExt))
	why, _, _ = strings.Cut(strings.TrimSpace(why), "\n")
	head := "# " + test + "\n"
	if why != "" {
		head += "# " + why + "\n"
	}
	if os.MkdirAll(filepath.Dir(file), 0o755) != nil || os.WriteFile(file, []byte(head+text), 0o644) != nil {
		return ""
	}
	return file
}

// saveStory writes a scenario of a failed run of a plan beside the plan's file. It returns the scenario's file, and a link that opens it if
// the address of the page is known. Both are "" if there is no scenario.
func saveStory(plan string, r *campaign.Report) (file, link string) {
	text, ok := r.Scenario()
	if !ok || plan == "" {
		return "", ""
	}
	file = strings.TrimSuffix(plan, planExt) + ".txtar"
	if os.WriteFile(file, []byte(text), 0o644) != nil {
		return "", ""
	}
	if site := os.Getenv(campaign.SiteVariable); site != "" {
		link = campaign.Link(site, text)
	}
	return file, link
}
