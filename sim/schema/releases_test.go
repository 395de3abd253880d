package schema

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestReleases: rows are in order, of one form, and have data.
func TestReleases(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var last int
	var before Release
	for _, r := range Releases {
		is.True(len(r.Stored) > 0 && len(r.Unserved) > 0)    // a new row does not forget what every minor has
		is.True(r.Readable != nil || before.Readable == nil) // nor what the one before has
		is.True(r.CELGo > 0 && r.CELGo >= before.CELGo)      // cel-go gets no older
		before = r
		var minor int
		_, err := fmt.Sscanf(r.Minor, "1.%d", &minor)
		is.NoErr(err)
		is.True(minor > last) // oldest first, each once
		last = minor
		is.True(strings.HasPrefix(r.Version, "v"+r.Minor+".")) // the release is one of the minor
		set, err := Load(r.Minor)
		is.NoErr(err)
		is.Equal(set.Release().Version, r.Version)
		for served, stored := range r.Stored { // order does not matter
			is.Equal(served.Kind, stored.Kind)
			is.True(slices.ContainsFunc(set.Resources(), func(x Resource) bool { return x.GVK == served && x.Storage == stored })) // the data says so, too
		}
		for gv := range r.Unserved { // order does not matter
			group, version, _ := strings.Cut(gv, "/")
			if r.Readable != nil && r.Unserved[gv] != "" && !slices.Contains(strings.Fields(r.Readable[group]), version) {
				t.Errorf("%s: kinds of %s can be read, OpenAPI does not say so", r.Minor, gv)
			}
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

// TestCanRead: what a server can read without serving it is another thing in each minor.
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

// TestDefaultIsEmbedded: the directive of a page cannot read a constant.
func TestDefaultIsEmbedded(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	text, err := os.ReadFile("data_default.go")
	is.NoErr(err)
	is.True(strings.Contains(string(text), "data/"+Default+".bin data/docs-"+Default+".bin\n"))
}

// TestReadable: a version that a release can read is one of its set, or its kinds are listed. A body of it is refused as one of
// another version then, not as one that nobody knows. AdmissionReview is what servers send, not what they are sent.
func TestReadable(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	for _, r := range Releases {
		set, err := Load(r.Minor)
		is.NoErr(err)
		known := map[string]bool{}
		for gvk := range set.kinds { // order does not matter: it fills a set
			known[gvk.GV()] = true
		}
		for group, versions := range r.Readable { // order does not matter: each is looked at alone
			for version := range strings.FieldsSeq(versions) {
				gv := GVK{Group: group, Version: version}.GV()
				if group != "admission.k8s.io" && !known[gv] && r.Unserved[gv] == "" {
					t.Errorf("%s: %s can be read, but no kind of it is known", r.Minor, gv)
				}
			}
		}
	}
}
