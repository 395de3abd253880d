package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

const manifest = `apiVersion: v1
kind: ConfigMap
metadata: {name: good}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: Bad
  namespace: shop
`

func TestCheck(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "x.yaml")
	is.NoErr(os.WriteFile(path, []byte(manifest), 0o600))

	code, out, errs := ended("check", path, "--minors", "1.36,v1.37.2")
	is.Equal(code, 1)
	is.Equal(errs, "")
	lines := strings.Split(out, "\n")
	is.True(strings.HasPrefix(lines[0], path+`:8:9: error: ConfigMap shop/Bad: metadata.name: Invalid value: "Bad": a lowercase RFC 1123 subdomain`))
	is.Equal(lines[1], path+":9:14: note: ConfigMap shop/Bad: no file defines the namespace shop, so it was created")
	is.Equal(lines[2], "2 objects on Kubernetes 1.36, 1.37: 1 refused, 1 error, 0 warnings")

	code, out, _ = ended("check", "--strict", "--format", "github", dir)
	is.Equal(code, 1)
	is.Equal(out, "::error file="+path+`,line=9,col=14,title=kubesim check::ConfigMap shop/Bad: namespaces "shop" not found`+"\n")

	is.NoErr(os.WriteFile(path, []byte(manifest[:strings.Index(manifest, "---")]), 0o600))
	code, out, _ = ended("check", path)
	is.Equal(code, 0)
	is.Equal(out, "1 object on Kubernetes 1.36: 0 refused, 0 errors, 0 warnings\n")
}

func TestCheckArguments(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{ // order does not matter
		"":                      "check: no path is given; for example: kubesim check deploy/",
		"x --format xml":        `check: --format "xml": the formats are text, json, sarif, github`,
		"x --minors 1.12":       `check: "1.12" is not a simulated minor version; they are 1.34, 1.35, 1.36, 1.37`,
		"x --as-group dev":      "check: --as-group needs --as",
		"there-is-no-such-file": "check: stat there-is-no-such-file: no such file or directory",
	} {
		code, _, errs := ended(append([]string{"check"}, strings.Fields(args)...)...)
		if code != 2 || errs != "kubesim: "+want+"\n" {
			t.Errorf("check %s: %d, %s", args, code, errs)
		}
	}
	if code, out, _ := ended("check", "--help"); code != 0 || out != checkUsage {
		t.Errorf("check --help: %d, %s", code, out)
	}
}
