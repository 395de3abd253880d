package schema

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/matryer/is"
)

const allVerbs = "create,delete,deletecollection,get,list,patch,update,watch"

// storageHash computes the storageVersionHash of discovery: base64 of the first 8 bytes of the SHA-256 of the storage version.
func storageHash(k GVK) string {
	sum := sha256.Sum256([]byte(k.Group + "/" + k.Version + "/" + k.Kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}

// row formats a resource or subresource as in testdata/served-1.36.txt.
func row(name, kind string, verbs []string, rest ...string) string {
	v := strings.Join(verbs, ",")
	if v == allVerbs {
		v = "ALL"
	}
	return strings.TrimSpace(fmt.Sprintf("- %s | %s | %s | %s", name, kind, v, strings.Join(rest, " ")))
}

// servedRows formats Resources as in testdata/served-1.36.txt, by group version.
func servedRows(s *Set) map[string][]string {
	out := map[string][]string{}
	for _, r := range s.Resources() {
		rest := []string{"cluster", "sing=" + r.Singular}
		if r.Namespaced {
			rest[0] = "ns"
		}
		if len(r.ShortNames) > 0 {
			rest = append(rest, "short="+strings.Join(r.ShortNames, ","))
		}
		if len(r.Categories) > 0 {
			rest = append(rest, "cat="+strings.Join(r.Categories, ","))
		}
		if r.Storage != (GVK{}) {
			rest = append(rest, "svh="+storageHash(r.Storage))
		}
		gv := r.GV()
		out[gv] = append(out[gv], row(r.Resource, r.Kind, r.Verbs, rest...))
		for _, sub := range r.Subresources {
			kind := sub.Kind
			if sub.GV() != gv {
				kind = sub.GV() + " " + kind
			}
			out[gv] = append(out[gv], row(r.Resource+"/"+sub.Name, kind, sub.Verbs))
		}
	}
	return out
}

func TestServedByDefault(t *testing.T) {
	is := is.New(t)
	text, err := os.ReadFile("testdata/served-1.36.txt")
	is.NoErr(err)
	got := servedRows(load(t))
	want := map[string][]string{}
	gv := ""
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		switch {
		case strings.HasPrefix(line, "### "):
			gv = strings.TrimPrefix(line, "### ")
		case strings.HasPrefix(line, "- "):
			want[gv] = append(want[gv], line)
		}
	}
	is.Equal(len(got), len(want)) // the same number of group versions
	for gv := range want {
		is.Equal(strings.Join(got[gv], "\n"), strings.Join(want[gv], "\n")) // the same rows in the same order
	}
}

func TestServedOrder(t *testing.T) {
	is := is.New(t)
	s := load(t)
	want := []string{"v1"} // the core group comes first
	for _, g := range s.Groups() {
		for _, v := range g.Versions {
			want = append(want, g.Name+"/"+v)
		}
	}
	var got, resources []string
	for _, r := range s.Resources() {
		if len(got) == 0 || got[len(got)-1] != r.GV() {
			got = append(got, r.GV())
			resources = nil
		}
		resources = append(resources, r.Resource)
		is.True(sort.StringsAreSorted(resources)) // sorted within a version
	}
	is.Equal(got, want)                                                 // group versions in the order of /apis
	is.Equal(s.Groups()[0].Name, "apiregistration.k8s.io")              // the aggregator's own group is first
	is.Equal(s.Groups()[5], Group{"autoscaling", []string{"v2", "v1"}}) // v2 is preferred
}

func TestServedKindsHaveTypes(t *testing.T) {
	is := is.New(t)
	s := load(t)
	for _, r := range s.Resources() {
		is.True(s.Kind(r.GVK) != nil) // every served kind has a structure
		list := r.GVK
		list.Kind += "List"
		for _, verb := range r.Verbs {
			is.True(verb != "list" || s.Kind(list) != nil) // and its list
		}
		stored := r.Storage == GVK{} || r.Storage.Version == "v1beta1" || s.Kind(r.Storage) != nil
		is.True(stored) // and its storage version, if the server can read that version
		for _, sub := range r.Subresources {
			is.True(s.Kind(sub.GVK) != nil) // and the bodies of subresources
		}
	}
}
