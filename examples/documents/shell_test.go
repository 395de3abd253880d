package documents

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// programs are the programs that a line in a document may start. Most lines do not run, because that takes hours, a cluster or a
// download: reason explains why, and check looks for mistakes instead. A line is run if all of its commands are runnable.
var programs = map[string]struct {
	reason string
	check  func(*line, command) error
}{
	"cd":             {"it is a part of a line: the folder must exist", (*line).checkFolder},
	"make":           {"targets take minutes to hours: the target and its variables must exist", (*line).checkMake},
	"go":             {"tests run by themselves, other commands write: packages, names of tests, flags and programs must exist", (*line).checkGo},
	"kubesim":        {"it serves, or needs a file of the reader's: it must accept the command and the flags", (*line).checkKubesim},
	"kube-apiserver": {"it serves: it must accept the flags", (*line).checkKubesim},
	"kubectl":        {"it needs a cluster: kubesim's kubectl must accept the command and the flags", (*line).checkKubesim},
	"node":           {"it needs what npm installs: the file must exist", (*line).checkFile},
	"npm":            {"it needs npm's registry: web/npm/test/package.test.mjs installs the package without it", (*line).checkPackage},
	"podman":         {"it needs a container engine: the image's name must be that of a release", (*line).checkImage},
	"kind":           {"it needs a container engine: the image's name must be that of a release", (*line).checkImage},
}

// runnable matches commands that can run: they end by themselves, and write only files named in their arguments.
var runnable = regexp.MustCompile(`^kubesim (run|sweep|replay|version|help) `)

// line is a shell line in a document.
type line struct {
	document Document
	number   int
	dirs     []string // directories to which its paths may be relative
	tools    tools
}

// newLine returns a line whose paths may be relative to the document's directory, its module, or the project's root.
func newLine(d Document, number int, programs tools) *line {
	own := filepath.Join(root, filepath.Dir(d.Name))
	module := own
	for module != root && !exists(filepath.Join(module, "go.mod")) {
		module = filepath.Dir(module)
	}
	return &line{d, number, []string{own, module, root}, programs}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// find returns the file or directory to which a path in the line refers, or "".
func (l *line) find(name string) string {
	for _, dir := range l.dirs {
		if file := filepath.Join(dir, filepath.FromSlash(name)); exists(file) {
			return file
		}
	}
	return ""
}

// placeholder matches words that the reader has to replace, such as FILE or DIR/NAME.
var placeholder = regexp.MustCompile(`^[A-Z][A-Z0-9_./]*$|…`)

// TestLines checks all shell lines: those in blocks, and those within sentences.
func TestLines(t *testing.T) {
	t.Parallel()
	tools := newTools(t)
	for _, d := range all(t) {
		report := func(number int, complaints []string) {
			for _, c := range complaints {
				t.Errorf("%s:%d: %s", d.Name, number, c)
			}
		}
		for _, b := range d.Blocks {
			if b.Kind == "sh" {
				for i, text := range strings.SplitAfter(strings.TrimSuffix(strings.ReplaceAll(b.Text, "\\\n", "\x00"), "\n"), "\n") {
					l := newLine(d, b.Line+i, tools)
					report(l.number, l.tryLine(t, strings.ReplaceAll(text, "\x00", "")))
				}
			}
		}
		for _, span := range d.Commands {
			if all, err := commands(span.Text); err == nil && isCommand(all) {
				report(span.Line, newLine(d, span.Line, tools).check(all))
			}
		}
	}
}

// isCommand reports whether a code span is a command line rather than only the name of a program.
func isCommand(all []command) bool {
	if len(all) == 0 || len(all[0].args) < 2 || all[0].args[1] == "…" {
		return false
	}
	_, known := programs[all[0].args[0]]
	return known
}

// tryLine checks a line of a block, or runs it if it is runnable.
func (l *line) tryLine(t *testing.T, text string) (complaints []string) {
	all, err := commands(text)
	if err != nil {
		return []string{err.Error() + ": an indented block holds lines of shell; other text stands in a fence with a word that says what it is"}
	}
	notRunnable := func(c command) bool {
		words := c.program()
		return !runnable.MatchString(strings.Join(words, " ")+" ") || slices.ContainsFunc(words, placeholder.MatchString)
	}
	if len(all) == 0 || slices.ContainsFunc(all, notRunnable) {
		return l.check(all)
	}
	if out, err := l.tools.bash(t, l.document, text).CombinedOutput(); err != nil {
		return []string{fmt.Sprintf("%s: %v\n%s", text, err, out)}
	}
	return nil
}

// check checks the commands of a line according to programs.
func (l *line) check(all []command) (complaints []string) {
	for _, c := range all {
		for _, env := range c.env {
			name, _, _ := strings.Cut(env, "=")
			if !l.tools.uses(name) {
				complaints = append(complaints, "no program of the project reads the variable "+name)
			}
		}
		c.args = c.program()
		if len(c.args) == 0 {
			continue
		}
		p, known := programs[c.args[0]]
		if !known {
			complaints = append(complaints, fmt.Sprintf("%s: no test knows the program %s: give it a row in programs (examples/documents/shell_test.go), "+
				"or put text that is no shell into a fence with a word that says what it is", c, c.args[0]))
		} else if err := p.check(l, c); err != nil {
			complaints = append(complaints, fmt.Sprintf("%s: %v", c, err))
		}
	}
	return complaints
}

// program returns the words of a command. They begin with kubesim if "go run" starts it.
func (c command) program() []string {
	for i, word := range c.args {
		if i >= 2 && c.args[0] == "go" && c.args[1] == "run" && strings.HasSuffix(word, "/fake/cmd/kubesim") {
			return append([]string{"kubesim"}, c.args[i+1:]...)
		}
	}
	return c.args
}

func (l *line) checkFolder(c command) error {
	dir := l.find(c.args[len(c.args)-1])
	if dir == "" {
		return fmt.Errorf("there is no such folder")
	}
	l.dirs = []string{dir}
	return nil
}

func (l *line) checkFile(c command) error {
	for _, word := range c.args[1:] {
		if !strings.HasPrefix(word, "-") && l.find(word) == "" && !slices.Contains(c.args, "--raw=FILE") {
			return fmt.Errorf("there is no %s", word)
		}
	}
	return nil
}

// checkMake checks that make has the target. Because lines that contain $(MAKE) run even with -n, it replaces the shell with one
// that does nothing.
func (l *line) checkMake(c command) error {
	for _, word := range c.args[1:] {
		if name, _, ok := strings.Cut(word, "="); ok && !l.tools.uses(name) {
			return fmt.Errorf("neither the Makefile nor a program reads the variable %s", name)
		}
	}
	make := exec.Command("make", append([]string{"-n", "SHELL=true"}, c.args[1:]...)...)
	make.Dir, make.Env = root, append(os.Environ(), "MAKEFLAGS=") // ignore the flags of a make that runs this test
	if out, err := make.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// checkKubesim checks the flags by running the program with --help as the last argument: it prints its help when it parses --help.
func (l *line) checkKubesim(c command) error {
	args := append(slices.Clone(c.args), "--help")
	if args[0] == "kubesim" && args[1] == "test" { // passes the following arguments to go test
		args = []string{"kubesim", "test", "--help"}
	}
	if args[0] == "kubectl" {
		args = append([]string{"kubesim"}, args...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // it would serve if a flag took --help as its value
	defer cancel()
	help := exec.CommandContext(ctx, filepath.Join(l.tools.dir, args[0]), args[1:]...)
	help.Dir, help.Env = l.tools.dir, append(os.Environ(), "PATH="+l.tools.dir+":"+os.Getenv("PATH"))
	out, err := help.CombinedOutput()
	if ctx.Err() != nil {
		return fmt.Errorf("its last flag needs a value")
	}
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	for _, word := range args[1:] { // kube-apiserver --help accepts any other flag, but lists its flags
		name, _, _ := strings.Cut(word, "=")
		if args[0] == "kube-apiserver" && strings.HasPrefix(name, "--") && !bytes.Contains(out, []byte(name)) {
			return fmt.Errorf("unknown flag %s", name)
		}
	}
	return nil
}

func (l *line) checkPackage(c command) error {
	if c.args[1] != "install" || !strings.Contains(c.args[len(c.args)-1], "kubesim") {
		return fmt.Errorf("the only package to install is kubesim")
	}
	return nil
}

// imageName matches the image of a release: its archive, and its name in the container engine that has loaded it.
var imageName = regexp.MustCompile(`^dist/(v[0-9.]+)/kubesim_(v[0-9.]+)_image\.oci\.tar$|^localhost/kubesim:v[0-9.]+$`)

func (l *line) checkImage(c command) error {
	if last := c.args[len(c.args)-1]; !imageName.MatchString(last) {
		return fmt.Errorf("%s is not the image of a release", last)
	}
	return nil
}
