package documents

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// checkGo checks a go command by its second word. Without further words it refers to the package in the reader's directory.
func (l *line) checkGo(c command) error {
	rest := c.args[2:]
	if len(rest) == 0 && slices.Contains([]string{"build", "get", "install", "test", "vet"}, c.args[1]) {
		return nil
	}
	switch c.args[1] {
	case "test":
		return l.checkTests(rest)
	case "run", "install":
		return l.checkMain(rest)
	case "doc":
		return l.checkDoc(rest)
	case "mod":
		return l.checkModule(rest)
	}
	return fmt.Errorf("no test knows go %s: add a case to checkGo (examples/documents/packages_test.go)", c.args[1])
}

// testFlags are flags of go test, with whether the next word is their value.
var testFlags = map[string]bool{
	"-v": false, "-race": false, "-short": false, "-run": true, "-bench": true, "-timeout": true, "-count": true, "-fuzz": true, "-fuzztime": true,
}

// checkTests checks that the packages, tests and flags in a go test command exist. It checks only the first name of subtests.
func (l *line) checkTests(args []string) error {
	var dirs, names, own []string
	for i := 0; i < len(args); i++ {
		word := args[i]
		hasValue, known := testFlags[word]
		switch {
		case hasValue && i+1 == len(args):
			return fmt.Errorf("%s needs a value", word)
		case hasValue:
			if i++; word == "-run" || word == "-bench" || word == "-fuzz" {
				names = append(names, args[i])
			}
		case known:
		case strings.HasPrefix(word, "-"):
			own = append(own, strings.TrimLeft(word, "-"))
		default:
			dir := l.find(strings.TrimSuffix(word, "/..."))
			if dir == "" {
				return fmt.Errorf("there is no package %s", word)
			}
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) == 0 {
		return nil
	}
	for _, dir := range dirs {
		text, err := testText(dir, strings.HasSuffix(args[len(args)-1], "/..."))
		if err != nil {
			return err
		}
		for _, name := range names {
			if !declares(text, name) {
				return fmt.Errorf("%s has no %s", dir, name)
			}
		}
		for _, flag := range own {
			if !bytes.Contains(text, []byte(`("`+flag+`",`)) {
				return fmt.Errorf("the tests of %s have no flag -%s", dir, flag)
			}
		}
	}
	return nil
}

// testText returns the text of all tests of a package, or nil if the pattern includes packages below a directory.
func testText(dir string, below bool) (text []byte, err error) {
	if below {
		return nil, nil
	}
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no tests", dir)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		text = append(text, data...)
	}
	return text, err
}

var declared = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz|Example)\w*)\(`)

// declares reports whether a text contains a test that a pattern of -run or -bench selects. "-" and "^$" intentionally select none.
func declares(text []byte, pattern string) bool {
	first, _, _ := strings.Cut(pattern, "/")
	if first == "-" || first == "^$" || placeholder.MatchString(first) {
		return true
	}
	re, err := regexp.Compile(first)
	return err == nil && slices.ContainsFunc(declared.FindAllSubmatch(text, -1), func(m [][]byte) bool { return re.Match(m[1]) })
}

// checkMain checks that the program for go run or go install exists.
func (l *line) checkMain(args []string) error {
	dir := l.find(args[0])
	if dir == "" {
		return fmt.Errorf("there is no program %s", args[0])
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || !slices.ContainsFunc(files, func(name string) bool {
		text, _ := os.ReadFile(name)
		return bytes.Contains(text, []byte("\npackage main\n"))
	}) {
		return fmt.Errorf("%s is not a program", dir)
	}
	return nil
}

// checkDoc runs go doc, unless the package is a placeholder.
func (l *line) checkDoc(args []string) error {
	if placeholder.MatchString(filepath.Base(args[0])) {
		return nil
	}
	doc := exec.Command("go", append([]string{"doc"}, args...)...)
	doc.Dir = root
	if folder, symbol := path.Split(args[0]); folder != "" { // such as ./sim/scenario.Condition
		name, _, _ := strings.Cut(symbol, ".")
		i := slices.IndexFunc(l.dirs, func(dir string) bool { return exists(filepath.Join(dir, folder, name)) })
		doc.Dir = l.dirs[max(i, 0)]
	}
	if out, err := doc.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// checkModule makes go mod edit print its result. The other go mod commands need the network.
func (l *line) checkModule(args []string) error {
	if args[0] != "edit" {
		if !slices.Contains([]string{"tidy", "download"}, args[0]) {
			return fmt.Errorf("no test knows go mod %s: add it to checkModule (examples/documents/packages_test.go)", args[0])
		}
		return nil
	}
	edit := exec.Command("go", append([]string{"mod", "edit", "-print"}, args[1:]...)...)
	edit.Dir = l.dirs[len(l.dirs)-1]
	if out, err := edit.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}
