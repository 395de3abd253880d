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
	dirs := []string{"./fake", "./fake/dropin", "./fake/kubectl", "./fake/cmd/kubesim"}
	for _, env := range [][]string{nil, {"GOOS=js", "GOARCH=wasm"}} {
		lines := goListFor(t, env, append([]string{"-f", "{{.Dir}} {{join .Deps \" \"}}"}, dirs...)...)
		if len(lines) != len(dirs) {
			t.Fatalf("go list prints %d lines for %d packages", len(lines), len(dirs))
		}
		for _, line := range lines {
			dir, deps, _ := strings.Cut(line, " ")
			for _, p := range []string{"fake/chance", "fake/explore"} {
				if slices.Contains(strings.Fields(deps), module+"/"+p) {
					t.Errorf("%s depends on %s (%s): only tests that import fake/explore may; fake calls it through fake.Explorer and fake.Trial",
						dir, p, strings.Join(env, " "))
				}
			}
		}
	}
}
