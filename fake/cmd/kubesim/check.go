package main

import (
	"os"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/fake/check"
	"github.com/kubesim/kubesim/sim/schema"
)

const checkUsage = `kubesim check PATHS [flags] creates the objects of files on a simulated API server and prints what it says, with file, line and
column. No cluster is needed. A path is a file of YAML or JSON, a folder with its subfolders, a kustomization, or - for stdin.
Namespaces, definitions, roles, quotas and policies in the files are created first, and judge the other objects. Flags:

  --minors 1.35,1.36     the minor versions of the servers (default ` + schema.Default + `); a message of only some of them ends with their list
  --as USER              create the objects as this user, with the roles in the files; an administrator creates what configures the
                         cluster: namespaces, definitions, roles, quotas, policies
  --as-group GROUP       a group of the user; may be repeated
  -n, --namespace NAME   the namespace of objects without one (default default)
  --strict               refuse objects in a namespace that no file defines (default: it is created, and a note says so)
  --import PATH          create the objects in the cluster of this dump, as of kubesim serve --import; may be repeated; implies --strict
  --upgrade 1.36:1.37    report what changes for the objects, and for those of --import, when API servers of 1.36 are replaced by those
                         of 1.37: refused, not served, dropped, set differently
  --policy-tests FILE    run the requests in FILE and compare the results with those expected there; PATHS may be omitted
  --format FORMAT        text, json, sarif or github (default text)

The exit code is 1 if an object is refused or a file is invalid, and 2 if the arguments are.
`

// check implements kubesim check.
func (p program) check(args []string) error {
	var o check.Options
	set := newFlags("check")
	listFlag(set, "minors", &o.Minors)
	set.StringVar(&o.User, "as", "", "")
	repeatedFlag(set, "as-group", &o.Groups)
	set.StringVar(&o.Namespace, "namespace", "", "")
	set.StringVar(&o.Namespace, "n", "", "")
	set.BoolVar(&o.Strict, "strict", false, "")
	repeatedFlag(set, "import", &o.Import)
	upgrade := set.String("upgrade", "", "")
	tests := set.String("policy-tests", "", "")
	format := set.String("format", check.Formats[0], "")
	paths, err := parseAll(set, checkUsage, args)
	switch {
	case err != nil:
		return err
	case *upgrade != "" && (*tests != "" || len(o.Minors) > 0):
		return usagef("check: --upgrade has its own minor versions, and runs no policy tests")
	case len(paths) == 0 && *tests == "" && (*upgrade == "" || len(o.Import) == 0):
		return usagef("check: no path is given; for example: kubesim check deploy/")
	case !slices.Contains(check.Formats, *format):
		return usagef("check: --format %q: the formats are %s", *format, strings.Join(check.Formats, ", "))
	case o.User == "" && len(o.Groups) > 0:
		return usagef("check: --as-group needs --as")
	}
	if *upgrade != "" {
		from, to, _ := strings.Cut(*upgrade, ":")
		o.Minors = []string{from, to}
	}
	for i, minor := range o.Minors {
		r, ok := schema.ReleaseOf(minor)
		if !ok {
			return usagef("check: %q is not a simulated minor version; they are %s", minor, strings.Join(schema.Known(), ", "))
		}
		o.Minors[i] = r.Minor
	}
	report, err := checked(paths, *tests, *upgrade != "", o)
	if err != nil {
		return err
	}
	if err := report.Write(p.stdout, *format); err != nil {
		return err
	}
	if report.Failed() {
		return exitCode(1)
	}
	return nil
}

// checked returns the report about the objects in paths, about an upgrade from the first minor version to the second, or about the
// policy tests in a file.
func checked(paths []string, tests string, upgrade bool, o check.Options) (*check.Report, error) {
	if tests != "" {
		p, err := check.ReadPolicyTests(tests)
		if err != nil {
			return nil, usagef("check: --policy-tests: %v", err)
		}
		return p.Run(paths, o)
	}
	sources, err := check.Read(paths, os.Stdin)
	if err != nil {
		return nil, usagef("check: %v", err)
	}
	if upgrade {
		return check.Upgrade(sources, o.Minors[0], o.Minors[1], o)
	}
	return check.Run(sources, o)
}
