package guard

import (
	"slices"
	"strings"
	"testing"
)

// TestChanceIsImportedByExploreOnly checks that only tests that import fake/explore link package fake/chance, natively and as
// js/wasm. The package writes to data structures of the Go runtime and traces child processes.
func TestChanceIsImportedByExploreOnly(t *testing.T) {
	t.Parallel()
	for _, env := range [][]string{nil, {"GOOS=js", "GOARCH=wasm"}} {
		for _, dir := range []string{"fake", "fake/dropin", "fake/kubectl", "fake/cmd/kubesim"} {
			deps := goListFor(t, env, "-deps", "./"+dir)
			for _, p := range []string{"fake/chance", "fake/explore"} {
				if slices.Contains(deps, module+"/"+p) {
					t.Errorf("%s depends on %s (%s): only tests that import fake/explore may; fake calls it through fake.Explorer and fake.Trial",
						dir, p, strings.Join(env, " "))
				}
			}
		}
	}
}
