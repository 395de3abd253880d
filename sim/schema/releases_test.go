package schema

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestReleases checks that the rows are sorted, have the same form, and have data.
func TestReleases(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var last int
	var before Release
	for _, r := range Releases {
		is.True(len(r.Stored) > 0 && len(r.Unserved) > 0) // a new row also has the values of all minors
		is.True(r.CELGo > 0 && r.CELGo >= before.CELGo)   // cel-go gets no older
		before = r
		var minor int
		_, err := fmt.Sscanf(r.Minor, "1.%d", &minor)
		is.NoErr(err)
		is.True(minor > last) // oldest first, each once
		last = minor
		is.True(strings.HasPrefix(r.Version, "v"+r.Minor+".")) // the release is one of the minor
		set, err := LoadAll(r.Minor)
		is.NoErr(err)
		is.Equal(set.Release().Version, r.Version)
		for served, stored := range r.Stored { // order does not matter
			is.Equal(served.Kind, stored.Kind)
			is.True(slices.ContainsFunc(set.Resources(), func(x Resource) bool { return x.GVK == served && x.Storage == stored })) // the data matches
		}
	}
	r, ok := ReleaseOf(DefaultVersion)
	is.True(ok && r.Minor == Default && r.Version == DefaultVersion)
}

func TestReleaseOf(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	for version, want := range map[string]string{"1.36": "1.36", "v1.36": "1.36", "v1.35.9": "1.35", "1.3": "", "1.365": "", "": ""} {
		r, _ := ReleaseOf(version)
		is.Equal(r.Minor, want) // a minor, or a release of one
	}
}

// TestCanRead checks that the kinds that a server can decode without serving them differ between minors.
func TestCanRead(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	older, _ := ReleaseOf("1.36")
	newer, _ := ReleaseOf("1.37")
	gone := GVK{"scheduling.k8s.io", "v1alpha2", "WorkloadList"}
	is.True(older.CanRead(gone) && !newer.CanRead(gone))
	made := GVK{"scheduling.k8s.io", "v1beta1", "Workload"}
	is.True(!older.CanRead(made) && newer.CanRead(made))
}

// TestDefaultIsEmbedded compares Default with the embed directive of a web page, which cannot use a constant.
func TestDefaultIsEmbedded(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	text, err := os.ReadFile("data_default.go")
	is.NoErr(err)
	is.True(strings.Contains(string(text), "data/"+Default+".bin data/docs-"+Default+".bin\n"))
}

// TestReadable checks the group versions that OpenAPI lists in 1.36 and in 1.37.
func TestReadable(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	versions := func(minor, group string) (all []string) {
		set, err := Load(minor)
		is.NoErr(err)
		for _, gv := range set.Readable() {
			if gv.Group == group {
				all = append(all, gv.Version)
			}
		}
		return all
	}
	for group, want := range map[string]string{
		"admission.k8s.io": "v1 v1beta1", "apps": "v1 v1beta1 v1beta2", "autoscaling": "v1 v2", "extensions": "v1beta1",
		"internal.apiserver.k8s.io": "v1alpha1", "scheduling.k8s.io": "v1 v1alpha2 v1beta1", "storagemigration.k8s.io": "v1beta1",
		"lifecycle.k8s.io": "", "": "", "meta.k8s.io": "", "apidiscovery.k8s.io": "",
	} {
		is.Equal(strings.Join(versions("1.36", group), " "), want) // served or not
	}
	is.Equal(versions("1.37", "scheduling.k8s.io"), []string{"v1", "v1alpha3", "v1beta1"}) // another alpha
	is.Equal(versions("1.37", "storagemigration.k8s.io"), []string{"v1", "v1beta1"})       // a new stable one
}
