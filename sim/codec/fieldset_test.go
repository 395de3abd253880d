package codec

import (
	"testing"

	"github.com/matryer/is"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"

	"github.com/kubesim/kubesim/sim/object"
)

var elements = []string{".", "f:a", "f:a b", "f:ab", "f:k:", `k:{"port":9,"protocol":"TCP"}`, `k:{"port":80,"protocol":"TCP"}`, `k:{"port":80,"protocol":"UDP"}`,
	`k:{"port":443,"protocol":"TCP"}`, `k:{"port":-1}`, `k:{"port":"http"}`, `k:{"name":"a"}`, `k:{"name":"a!"}`, `k:{"name":"a b"}`, `k:{"name":"ab"}`,
	`k:{"name":"a\"b"}`, `k:{"name":"ä"}`, `k:{"a":1,"name":"x"}`, `k:{"n":1.5}`, `k:{"n":true}`, `k:{"n":null}`, "v:1", "v:10", "v:9", "v:1.5", `v:"1"`, `v:"a"`, `v:"a "`,
	"v:true", "v:null", "i:10", "i:9"}

// The order is that of the library, but for the own paths of sets, which it does not sort.
func TestComparePathElements(t *testing.T) {
	is := is.New(t)
	for _, a := range elements[1:] {
		for _, b := range elements[1:] {
			x, err := fieldpath.DeserializePathElement(a)
			is.NoErr(err)
			y, err := fieldpath.DeserializePathElement(b)
			is.NoErr(err)
			if got, want := ComparePathElements(a, b), x.Compare(y); got != want {
				t.Errorf("%s and %s: got %d, want %d", a, b, got, want)
			}
		}
		is.Equal(ComparePathElements(".", a), -1)
	}
}

// Elements that no library reads have an order, too: that of their bytes.
func FuzzComparePathElements(f *testing.F) {
	for i, a := range elements {
		f.Add(a, elements[(i+1)%len(elements)])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		got := ComparePathElements(a, b)
		if back := ComparePathElements(b, a); got != -back {
			t.Errorf("%q and %q: %d one way, %d the other", a, b, got, back)
		}
		if (got == 0) != (a == b) {
			t.Errorf("%q and %q: %d", a, b, got)
		}
	})
}

func TestAppendFieldSet(t *testing.T) {
	is := is.New(t)
	in := `{"f:ports":{"k:{\"port\":443}":{".":{},"f:port":{}},".":{},"k:{\"port\":80}":{}},"f:nums":{"v:100":{},"v:9":{}}}`
	set, err := object.Parse([]byte(in))
	is.NoErr(err)
	is.Equal(string(appendFieldSet(nil, set)), `{"f:nums":{"v:9":{},"v:100":{}},"f:ports":{".":{},"k:{\"port\":80}":{},"k:{\"port\":443}":{".":{},"f:port":{}}}}`)
}
