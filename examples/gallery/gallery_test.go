package gallery

import (
	"testing"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/explore"
)

// exhibits is the gallery, in the order of a visit.
var exhibits = []exhibit{
	double, expectations, lock, claims, shrink, between, confirm, terminal, retry, leaders, generation, owner, schedule, address,
	tombstone, orphans, leak, reused, deletions, overwrite, adopt,
}

// seedsFound is within how many seeds each mistake has to be found.
const seedsFound = 5000

// seedsSurvived is under how many plans go test runs each correct version; make gallery runs 10,000.
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

// The same test finds nothing wrong with the correct version.
func TestPatterns(t *testing.T) {
	for _, x := range exhibits {
		t.Run(x.name, func(t *testing.T) {
			fake.Explore(t, fake.ExploreOptions{Seeds: seedsSurvived, Server: x.server}, x.body(true))
		})
	}
}
