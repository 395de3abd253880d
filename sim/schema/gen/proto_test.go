package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kubesim/kubesim/sim/schema"
)

var (
	protoPackage = regexp.MustCompile(`^package ([\w.]+);`)
	protoMessage = regexp.MustCompile(`^message (\w+) {`)
	protoField   = regexp.MustCompile(`^  .* (\w+) = (\d+);`)
)

// readProto adds the messages of a generated.proto to into: full name → field number → field name.
func readProto(t *testing.T, path string, into map[string]map[int]string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pkg, message := "", ""
	for _, line := range strings.Split(string(text), "\n") {
		if m := protoPackage.FindStringSubmatch(line); m != nil {
			pkg = m[1]
		} else if m := protoMessage.FindStringSubmatch(line); m != nil {
			message = pkg + "." + m[1]
			into[message] = map[int]string{}
		} else if m := protoField.FindStringSubmatch(line); m != nil {
			n, err := strconv.Atoi(m[2])
			if err != nil {
				t.Fatal(err)
			}
			into[message][n] = m[1]
		}
	}
}

// TestProtobufNumbers compares every message in the .proto files of the Go packages with the data.
func TestProtobufNumbers(t *testing.T) {
	messages := map[string]map[int]string{}
	for _, module := range []string{"api", "apimachinery", "apiextensions-apiserver", "kube-aggregator"} {
		list := []string{"list", "-m", "-f", "{{.Dir}}"}
		if minor != schema.Default {
			list = append(list, "-modfile=go-"+minor+".mod")
		}
		dir, err := exec.Command("go", append(list, "k8s.io/"+module)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		err = filepath.WalkDir(strings.TrimSpace(string(dir)), func(path string, _ os.DirEntry, err error) error {
			if filepath.Base(path) == "generated.proto" {
				readProto(t, path, messages)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	pub, err := readPublished("openapi", minor)
	if err != nil {
		t.Fatal(err)
	}
	src, err := newSource()
	if err != nil {
		t.Fatal(err)
	}
	w := newWalk(pub, src)
	if err := w.all(slices.Concat(registrations, offRegistrations)); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for g, s := range w.types {
		message := messages[strings.NewReplacer("/", ".", "-", "_").Replace(g.PkgPath())+"."+g.Name()]
		switch {
		case s.Kind == schema.Struct:
			compareMessage(t, s, message)
			compared++
		case s.Kind == schema.List && s.Message != (message != nil):
			t.Errorf("%s is a message: %v", s.GoType, s.Message)
		case s.Message && message[1] != "items":
			t.Errorf("%s has no items in %v", s.GoType, message)
		}
	}
	if compared < 580 {
		t.Errorf("only %d messages were compared", compared)
	}
}

// compareMessage checks the numbers of a struct's fields against its message. A field without a number must not be in a
// message. An inlined message counts as one field.
func compareMessage(t *testing.T, s *schema.Type, message map[int]string) {
	t.Helper()
	seen := map[int]bool{}
	for _, f := range s.Fields {
		switch {
		case f.Proto == 0:
		case f.Inline != nil:
			seen[f.Inline[0]] = true
		case plainName(f.Name) != plainName(message[f.Proto]):
			t.Errorf("%s.%s is field %d: %q", s.Name, f.Name, f.Proto, message[f.Proto])
		default:
			seen[f.Proto] = true
		}
	}
	if len(seen) != len(message) {
		t.Errorf("%s: %d numbers, the message has %v", s.Name, len(seen), message)
	}
}

// plainName converts "x-kubernetes-list-type" and "xKubernetesListType" to the same name.
func plainName(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if strings.ContainsRune("-$_", r) {
			return -1
		}
		return r
	}, name))
}
