package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestPolicyTests(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p, err := ReadPolicyTests("testdata/policies/tests.yaml")
	is.NoErr(err)
	r, err := p.Run(nil, Options{Minors: []string{"1.36", "1.37"}})
	is.NoErr(err)
	is.Equal(r.Failed(), false)
	is.Equal(len(r.Findings), len(p.Tests)) // each test passes, on both servers
	for _, f := range r.Findings {
		is.Equal(f.Level, Pass)
		is.Equal(len(f.Minors), 2)
	}
	is.Equal(r.Summary(), "10 policy tests on Kubernetes 1.36, 1.37: 0 errors")

	for i := range p.Tests { // without the policies, and with the opposite expectation, only these pass
		if t := &p.Tests[i]; t.Expected == "denied" {
			t.Expected, t.Message = "allowed", ""
		}
	}
	p.Files = nil
	r, err = p.Run([]string{"testdata/policies/roles.yaml"}, Options{})
	is.NoErr(err)
	var failed []string
	for _, f := range r.Findings {
		if f.Level == Error {
			failed = append(failed, f.Object+": "+f.Message)
		}
	}
	is.Equal(failed, []string{
		`a user without rights: expected allowed, but it was denied: deployments.apps is forbidden: User "joe" cannot create resource "deployments" ` +
			`in API group "apps" in the namespace "shop"`,
		"a Deployment gets a team: expected mutated, but it was allowed",
		"a ConfigMap with the label keep: expected warned, but it was allowed",
		`a smaller widget: expected allowed, but it was denied: no matches for kind "Widget" in version "example.com/v1"`,
	})
}

func TestPolicyTestErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"", "it has no tests: write them as items of the field tests"},
		{"tests:\n- {objekt: a}", "yaml: unmarshal errors:\n  line 2: field objekt not found in type check.PolicyTest"},
		{"tests:\n- {expected: denied}", "line 2: the object is missing"},
		{"tests:\n\n- {expected: refused}", `line 3: expected "refused": it must be allowed, denied, warned, mutated`},
		{"tests:\n- {expected: denied, operation: connect}", `line 2: operation "connect": it must be create, update, delete`},
		{"tests:\n- {expected: denied, groups: [a]}", "line 2: groups without a user"},
		{"tests:\n- {expected: denied, object: {kind: Pod}}", "line 2: object: it must have apiVersion, kind and a name, or be the path of a file"},
		{"tests:\n- {expected: denied, object: [a]}", "line 2: object: it must have apiVersion, kind and a name, or be the path of a file"},
		{"tests:\n- {expected: denied, object: policies/policy.yaml}", "line 2: object: policies/policy.yaml: it has 7 objects instead of one"},
		{"tests:\n- {expected: denied, object: policies/web.yaml, change: 1}", "line 2: change: error decoding patch: json: cannot unmarshal number"},
	} {
		_, err := parsePolicyTests([]byte(c.text), "testdata")
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

// FuzzPolicyTests checks that a file of policy tests is either read, with complete tests, or rejected with a message.
func FuzzPolicyTests(f *testing.F) {
	data, err := os.ReadFile("testdata/policies/tests.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data))
	f.Add("tests: [{expected: allowed, object: &a {apiVersion: v1, kind: A, metadata: {name: a}}}, {object: *a, change: {b: [1]}, expected: mutated}]")
	dir := filepath.Join("testdata", "policies")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePolicyTests([]byte(text), dir)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("it is refused without a word")
			}
			return
		}
		for _, test := range p.Tests {
			if test.Name == "" || test.line == 0 || test.object.Kind() == "" || test.Operation == "" || test.Expected == "" {
				t.Fatalf("incomplete: %+v", test)
			}
		}
	})
}
