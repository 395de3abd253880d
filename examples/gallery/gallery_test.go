package gallery

import (
	"testing"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/explore"
)

// exhibits are the exhibits of the gallery, in the order of README.md.
var exhibits = []exhibit{
	double, expectations, lock, claims, shrink, between, confirm, terminal, retry, leaders, generation, owner, schedule, address,
	tombstone, orphans, leak, reused, deletions, overwrite, adopt,
}

// seedsFound is the number of seeds within which each mistake must be found.
const seedsFound = 5000

// seedsSurvived is the number of plans with which go test runs each correct version. make gallery runs 10,000.
const seedsSurvived = 200

// The ordinary test of each controller finds its mistake.
func TestMistakes(t *testing.T) {
	for _, x := range exhibits {
		t.Run(x.name, func(t *testing.T) {
			var found *explore.Report
			fake.Explore(t, fake.ExploreOptions{Seeds: seedsFound, Server: x.server, Repeat: 2, Found: func(r *explore.Report) { found = r }},
				x.body(false))
			if found == nil {
				t.Fatalf("not found within %d seeds: %s", seedsFound, x.mistake)
			}
			t.Logf("after %d seeds, %v: %s\n%s", found.Seeds, found.Took, found.Cause(), found.Plan)
			if found.Seeds == 0 {
				t.Errorf("the test fails without any trouble")
			}
		})
	}
}

// The ordinary test of each controller, run under many plans, finds no failure of the correct version.
func TestPatterns(t *testing.T) {
	for _, x := range exhibits {
		t.Run(x.name, func(t *testing.T) {
			fake.Explore(t, fake.ExploreOptions{Seeds: seedsSurvived, Server: x.server}, x.body(true))
		})
	}
}
