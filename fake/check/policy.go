package check

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/patch"
	"github.com/kubesim/kubesim/sim/wire"
)

// PolicyTests are the contents of a file of policy tests.
//
//	files: [policies/, crds/widget.yaml]
//	tests:
//	- name: six replicas
//	  object: web.yaml
//	  change: {spec: {replicas: 6}}
//	  user: jane
//	  expected: denied
//	  message: at most five replicas
type PolicyTests struct {
	// Files are the paths of files with objects that exist before each test, relative to the file of the tests.
	Files []string
	Tests []PolicyTest

	name string
}

// PolicyTest is a request, and its expected result.
type PolicyTest struct {
	Name string
	// Operation is create, update or delete. The default is create.
	Operation string
	// Object is an object, or the path of a file that contains one. OldObject is the stored object that an update or delete starts
	// from; its default is Object without Change.
	Object    any
	OldObject any `yaml:"oldObject"`
	// Change is a merge patch that is applied to Object before the test.
	Change any
	// User and Groups are the identity that sends the request. If User is empty, an administrator sends it.
	User   string
	Groups []string
	// Expected is allowed, denied, warned (allowed with a warning) or mutated (allowed, and changed by a policy).
	Expected string
	// Message is text that the error message, or one of the warnings, must contain.
	Message string
	// Result is a partial object. The stored object must have all of its fields.
	Result any

	line        int
	object, old object.Object
}

var (
	operations   = []string{"create", "update", "delete"}
	expectations = []string{"allowed", "denied", "warned", "mutated"}
)

// ReadPolicyTests reads a file of policy tests. It returns an error if a test is incomplete or invalid.
func ReadPolicyTests(name string) (*PolicyTests, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	p, err := parsePolicyTests(data, filepath.Dir(name))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p.name = name
	return p, nil
}

// parsePolicyTests parses a file of policy tests. Paths in it are relative to dir.
func parsePolicyTests(data []byte, dir string) (*PolicyTests, error) {
	p := &PolicyTests{}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(p); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(p.Tests) == 0 {
		return nil, errors.New("it has no tests: write them as items of the field tests")
	}
	for i, file := range p.Files {
		p.Files[i] = filepath.Join(dir, file)
	}
	text, err := codec.YAMLToJSON(data) // reads values as kubectl does
	if err != nil {
		return nil, err
	}
	whole, err := object.Parse(text)
	if err != nil {
		return nil, err
	}
	root := (&document{text: data}).tree()
	for i := range p.Tests {
		t := &p.Tests[i]
		var values object.Object // nil if the item is empty
		if list := whole.List("tests"); i < len(list) {
			values = object.As(list[i])
		}
		t.Object, t.OldObject, t.Change, t.Result = values["object"], values["oldObject"], values["change"], values["result"]
		at, _ := locate(root, fmt.Sprintf("tests[%d]", i), false)
		t.line = at.Line
		if err := t.complete(dir); err != nil {
			return nil, fmt.Errorf("line %d: %w", t.line, err)
		}
	}
	return p, nil
}

// complete sets defaults, reads the objects of the test, and returns an error if a field is invalid.
func (t *PolicyTest) complete(dir string) (err error) {
	t.Operation = cmp.Or(t.Operation, operations[0])
	switch {
	case !slices.Contains(operations, t.Operation):
		return fmt.Errorf("operation %q: it must be %s", t.Operation, strings.Join(operations, ", "))
	case !slices.Contains(expectations, t.Expected):
		return fmt.Errorf("expected %q: it must be %s", t.Expected, strings.Join(expectations, ", "))
	case t.User == "" && len(t.Groups) > 0:
		return errors.New("groups without a user")
	}
	if t.object, err = readObject(t.Object, dir); err != nil {
		return fmt.Errorf("object: %w", err)
	}
	if t.object == nil {
		return errors.New("the object is missing")
	}
	if t.old, err = readObject(t.OldObject, dir); err != nil {
		return fmt.Errorf("oldObject: %w", err)
	}
	if t.old == nil {
		t.old = t.object
	}
	if t.Change != nil {
		doc, _, s := patch.Merge(object.JSON(map[string]any(t.object)), object.JSON(t.Change), patch.Warn)
		if s != nil {
			return fmt.Errorf("change: %s", s.Message)
		}
		if t.object, err = object.Parse(doc); err != nil {
			return fmt.Errorf("change: %w", err)
		}
	}
	t.Name = cmp.Or(t.Name, t.Operation+" "+t.object.Kind()+" "+t.object.Name())
	return nil
}

// readObject returns v if it is an object, or the only object in the file if v is a path relative to dir. It returns nil if v is
// nil, and an error if there is no complete object.
func readObject(v any, dir string) (object.Object, error) {
	if v == nil {
		return nil, nil
	}
	obj := object.As(v)
	if path, ok := v.(string); ok {
		s, err := Read([]string{filepath.Join(dir, path)}, nil)
		switch {
		case err != nil:
			return nil, err
		case len(s.Problems) > 0:
			return nil, fmt.Errorf("%s: %s", s.Problems[0].place(), s.Problems[0].Message)
		case len(s.Objects) != 1:
			return nil, fmt.Errorf("%s: it has %d objects instead of one", path, len(s.Objects))
		}
		obj = s.Objects[0].Object
	}
	if obj == nil || obj.Kind() == "" || obj.APIVersion() == "" || obj.Name() == "" {
		return nil, errors.New("it must have apiVersion, kind and a name, or be the path of a file")
	}
	return obj, nil
}

// Run runs the tests on a server of each minor version. paths are more files whose objects exist before each test. A failed test is
// an Error in the report; an error of Run means that the tests could not run.
func (p *PolicyTests) Run(paths []string, o Options) (*Report, error) {
	s, err := Read(append(slices.Clone(p.Files), paths...), nil)
	if err != nil {
		return nil, err
	}
	unchanged := &Sources{Objects: slices.DeleteFunc(slices.Clone(s.Objects), func(obj *Object) bool {
		return strings.HasPrefix(obj.Kind(), "MutatingAdmissionPolicy")
	})}
	if err := o.complete(); err != nil {
		return nil, err
	}
	r := newReport(s, ordered(s.Objects), o.Minors)
	r.Tests = len(p.Tests)
	for _, minor := range o.Minors {
		srv, err := o.filled(s, minor, r)
		if err != nil {
			return nil, err
		}
		defer srv.Close()
		plain, err := o.filled(unchanged, minor, newReport(unchanged, unchanged.Objects, nil))
		if err != nil {
			return nil, err
		}
		defer plain.Close()
		for i := range p.Tests {
			f, err := p.Tests[i].run(srv, plain, &o)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", p.name, p.Tests[i].line, err)
			}
			f.File = p.name
			r.add(f, minor)
		}
	}
	r.finish()
	return r, nil
}

// filled returns a server of a minor version with the objects of the sources.
func (o *Options) filled(s *Sources, minor string, r *Report) (*fake.Server, error) {
	srv, fakeServer, err := o.simulated(minor)
	if err == nil {
		err = srv.run(ordered(s.Objects), minor, r)
	}
	if err != nil {
		return nil, fmt.Errorf("Kubernetes %s: %w", minor, err)
	}
	return fakeServer, nil
}

// run runs the test and returns its result. It uses a fork of srv. plain is the same server without mutating policies, with which
// the result is compared.
func (t *PolicyTest) run(srv, plain *fake.Server, o *Options) (Finding, error) {
	f := Finding{Line: t.line, Column: 1, Level: Error, Object: t.Name}
	v, err := t.send(srv, o)
	if err != nil {
		return f, err
	}
	f.Reason = v.Reason
	have := "it was allowed"
	switch {
	case v.refused():
		have = "it was denied: " + v.Message
	case len(v.Warnings) > 0:
		have = "it was allowed with warnings: " + strings.Join(v.Warnings, "; ")
	}
	passed := v.refused() == (t.Expected == "denied")
	texts := v.Warnings
	switch t.Expected {
	case "denied":
		texts = []string{v.Message}
	case "warned":
		passed = passed && len(texts) > 0
	case "mutated":
		changes, err := t.changes(v, plain, o)
		if err != nil {
			return f, err
		}
		if passed = passed && len(changes) > 0; passed {
			have += ", and changed: " + strings.Join(changes, ", ")
		}
	}
	if passed && !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, t.Message) }) && t.Message != "" {
		passed, have = false, have+" (without the message "+fmt.Sprintf("%q", t.Message)+")"
	}
	if passed && t.Result != nil && !contains(map[string]any(v.stored), t.Result) {
		passed, have = false, have+", and the result is "+string(object.JSON(map[string]any(comparable(v.stored))))
	}
	if f.Message = have; passed {
		f.Level, f.Reason = Pass, ""
	} else {
		f.Message = "expected " + t.Expected + ", but " + have
	}
	return f, nil
}

// changes returns the fields that mutating policies have changed. v is the response of the server with the policies.
func (t *PolicyTest) changes(v *Verdict, plain *fake.Server, o *Options) (changes []string, err error) {
	without, err := t.send(plain, o)
	if err != nil || v.stored == nil || without.stored == nil {
		return nil, err
	}
	for _, c := range object.Diff(map[string]any(comparable(without.stored)), map[string]any(comparable(v.stored))) {
		changes = append(changes, c.String())
	}
	return changes, nil
}

// send sends the request of the test to a fork of a server and returns the response. For an update or delete, it first stores the
// old object.
func (t *PolicyTest) send(srv *fake.Server, o *Options) (*Verdict, error) {
	fork := srv.Fork()
	defer fork.Close()
	as := *o
	as.User, as.Groups = t.User, t.Groups
	s := as.connectTo(fork, 1)
	at, _, err := s.place(t.object)
	if err != nil || at.unserved != nil {
		return at.unserved, err
	}
	obj, method, path := t.object.Copy(), wire.MethodPost, at.collection
	if t.Operation != operations[0] {
		old := t.old.Copy()
		if old.Namespace() == "" && strings.Contains(at.path, "/namespaces/") {
			old.Set(s.namespace, "metadata", "namespace")
		}
		if err := fork.Seed(map[string]any(old)); err != nil {
			return nil, err
		}
		stored, err := s.ask(s.admin.Request(wire.MethodGet, at.path, nil, "", nil))
		if err != nil || stored.refused() {
			return stored, err
		}
		obj.Set(stored.stored.ResourceVersion(), "metadata", "resourceVersion")
		method, path = wire.MethodPut, at.path
	}
	body := object.JSON(map[string]any(obj))
	if t.Operation == "delete" {
		method, body = wire.MethodDelete, nil
	}
	return s.ask(s.user.Request(method, path, client.Query("fieldManager", fieldManager, "fieldValidation", "Strict"), "application/json", body))
}

// comparable returns a copy of an object without the fields that differ between any two servers.
func comparable(obj object.Object) object.Object {
	obj = obj.Copy()
	for _, field := range []string{"uid", "creationTimestamp", "resourceVersion", "managedFields", "generation"} {
		obj.Remove("metadata", field)
	}
	return obj
}

// contains reports whether value contains part: a map must have all fields of part, and a list must have as many items, each of
// which contains the item of part. Other values must be equal.
func contains(value, part any) bool {
	switch part := part.(type) {
	case map[string]any:
		m, ok := value.(map[string]any)
		for k, v := range part { // order does not matter
			if !ok || !contains(m[k], v) {
				return false
			}
		}
		return ok
	case []any:
		list, ok := value.([]any)
		if !ok || len(list) != len(part) {
			return false
		}
		for i := range part {
			if !contains(list[i], part[i]) {
				return false
			}
		}
		return true
	}
	return object.Equal(value, part)
}
