package gotest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// addedName is the name of the file that is added to each package:
//
//	virtual time   kubesim's programs in the process ─▶ package os
//	               failures of oracles ─▶ package testing, Ginkgo
//	real time      failures of oracles ─▶ a file ─▶ package testing, Ginkgo
const addedName = "kubesim_gotest_test.go"

// register adds a file to the tests of each package. The file makes package os run kubesim's programs, and tests fail if an
// oracle does. If there are oracles, it also makes Ginkgo's specs fail.
func (o *overlay) register(list []aPackage, dir string) error {
	return o.addToTests(list, dir, hasOracles(), virtualText)
}

// registerReal adds a file to the tests of each package that makes tests and Ginkgo's specs fail if an oracle of a server does. Each
// server is another process in real time.
func (o *overlay) registerReal(list []aPackage, dir string) error {
	return o.addToTests(list, dir, true, realText)
}

// addToTests adds a file with a text to the tests of each package. If specs is true, the file also makes Ginkgo's specs fail.
func (o *overlay) addToTests(list []aPackage, dir string, specs bool, text string) error {
	for i, p := range list {
		imports, hooks := "", ""
		if specs && slices.Contains(slices.Concat(p.TestImports, p.XTestImports), ginkgo) {
			imports, hooks = fmt.Sprintf("import (\n\t\"strings\"\n\n\tginkgo %q\n)\n\n", ginkgo), specsText
		}
		// The file is in the external test package, which prevents import cycles.
		text := fmt.Sprintf("package %s_test\n\n%s%s%s", p.Name, imports, text, hooks)
		if err := o.add(filepath.Join(p.Dir, addedName), dir, fmt.Sprintf("register%d_test.go", i), text); err != nil {
			return err
		}
	}
	return nil
}

// hasOracles reports whether oracles observe the servers of the tests.
func hasOracles() bool {
	return os.Getenv("KUBESIM_ORACLES") != "" || os.Getenv("KUBESIM_FAIL_ON_WARNING") != ""
}

// ginkgo is the import path of Ginkgo.
const ginkgo = "github.com/onsi/ginkgo/v2"

// virtualText is the added file for virtual time.
const virtualText = `import (
	"os"
	_ "unsafe" // for linkname

	kubesim "` + insidePackage + `"
)

//go:linkname virtualProgram os.virtualProgram
var virtualProgram func(name string) func(args []string, stdout, stderr *os.File, stop <-chan struct{}) (code int)

//go:linkname virtualEndTest testing.virtualEndTest
var virtualEndTest func(rest bool) []string

func init() {
	virtualProgram, virtualEndTest = kubesim.Program, kubesim.EndTest
	kubesim.StartCluster()
}
`

// realText is the added file for real time. The servers that the tests start append the failures of oracles to a file, whose path they
// inherit in a variable.
const realText = `import (
	"bytes"
	"io"
	"os"
	"strconv"
	_ "unsafe" // for linkname
)

//go:linkname virtualEndTest testing.virtualEndTest
var virtualEndTest func(rest bool) []string

func init() {
	failures, err := os.CreateTemp(os.Getenv("` + failuresVariable + `"), "failures-")
	if err != nil {
		panic(err)
	}
	os.Setenv("` + failuresVariable + `", failures.Name())
	virtualEndTest = func(bool) (texts []string) {
		written, _ := io.ReadAll(failures) // from the end of the previous reading
		for _, line := range bytes.Split(bytes.TrimSpace(written), []byte("\n")) {
			if text, err := strconv.Unquote(string(line)); err == nil {
				texts = append(texts, text)
			}
		}
		return texts
	}
}
`

// specsText is added to the file if the tests import Ginkgo. JustAfterEach runs while the suite's controllers still run.
const specsText = `
func init() {
	ginkgo.JustAfterEach(func() { virtualEndSpec(!ginkgo.CurrentSpecReport().Failed()) })
	ginkgo.AfterEach(func() { virtualEndSpec(false) })
}

func virtualEndSpec(rest bool) {
	if failures := virtualEndTest(rest); len(failures) > 0 {
		ginkgo.Fail(strings.Join(failures, "\n"))
	}
}
`
