package kind

import (
	"testing"

	"github.com/matryer/is"
)

func TestSemver(t *testing.T) {
	is := is.New(t)
	for _, good := range []string{"1.2.3", "0.0.0", "1.0.0-alpha.1", "1.0.0-0a.b-c+build.01", "1.0.0+a-b"} {
		is.True(IsSemver(good)) // semver.org accepts it
	}
	for _, bad := range []string{"", "1", "1.2", "01.2.3", "1.2.3-", "1.2.3-01", "1.2.3+", "1.2.3-a..b", "v1.2.3", "1.2.3.4"} {
		is.True(!IsSemver(bad)) // semver.org refuses it
	}
}

// TestCompareSemver compares the versions of an increasing sequence, most of which is the example of semver.org.
func TestCompareSemver(t *testing.T) {
	is := is.New(t)
	order := []string{"0.0.0", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.2.0", "1.10.0"}
	for i, a := range order {
		for j, b := range order {
			is.Equal(CompareSemver(a, b) < 0, i < j) // the order of the list
		}
	}
	is.Equal(CompareSemver("1.0.0+a", "1.0.0+b"), 0) // metadata has no precedence
}
