package fake_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

// load starts a server from a snapshot.
func load(t *testing.T, snapshot []byte) *fake.Server {
	t.Helper()
	return fake.RunT(t, fake.Options{Snapshot: snapshot})
}

// TestSnapshot checks that a server that was saved and loaded continues like the original, byte for byte: lists and
// watches of old revisions, continue tokens, field managers, lagging replicas, faults and the trace.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	seeds(t, 4, func(t *testing.T, seed uint64) {
		is := is.New(t)
		r := rand.New(rand.NewPCG(seed, 2))
		before, after := randomDeeds(r, 120), randomDeeds(r, 60)
		a := begins(t, seed)
		a.do(before)
		saved, err := a.srv.Snapshot()
		is.NoErr(err)
		loaded := a.at(load(t, saved))
		again, err := loaded.srv.Snapshot()
		is.NoErr(err)
		is.True(bytes.Equal(again, saved)) // its snapshot is the same
		got := loaded.do(after)
		want := a.do(after)
		if at := difference(got, want); at >= 0 {
			t.Fatalf("loaded:\n%s\noriginal:\n%s", got[at:min(len(got), at+600)], want[at:min(len(want), at+600)])
		}
		is.Equal(everything(loaded), everything(a))
	})
}

// difference returns an index shortly before the first difference of two texts, or -1 if they are equal.
func difference(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return max(0, i-300)
		}
	}
	if len(a) != len(b) {
		return max(0, min(len(a), len(b))-300)
	}
	return -1
}

// TestServeSnapshot checks that a server returns its snapshot over HTTP and loads it again. A snapshot that cannot be
// loaded is rejected with a reason.
func TestServeSnapshot(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Trace: 100})
	c := client{t, srv}
	c.create("a")
	_, _, want := c.exchange("GET", mapsPath, "")
	_, _, saved := c.exchange("GET", "/sim/v1/snapshot", "")
	w := c.watch("")
	w.must("ADDED")
	c.create("b")
	srv.Clock.Advance(time.Minute)
	code, text := c.do("POST", "/sim/v1/snapshot", saved)
	is.Equal(fmt.Sprint(code, text), "200")
	_, _, got := c.exchange("GET", mapsPath, "")
	is.Equal(got, want)
	w.must("ADDED")
	_, open := w.next()
	is.True(!open) // the watch has ended
	c.create("c")
	is.Equal(srv.Revision(), uint64(4006)) // the revision of b is used again
	for body, want := range map[string]string{
		"":                   "the body is empty",
		saved[:len(saved)-9]: "is incomplete",
		strings.Replace(saved, `"Format":3`, `"Format":9`, 1):                         "the file has format 9",
		string(snapshotOf(t, fake.Options{Replicas: make([]fake.ReplicaOptions, 2)})): "2 replicas (v1.36.3, v1.36.3)",
		string(snapshotOf(t, fake.Options{Auth: 1})):                                  "other rights",
	} {
		code, text := c.do("POST", "/sim/v1/snapshot", body)
		is.Equal(code, http.StatusBadRequest)
		if !strings.Contains(text, want) {
			t.Errorf("%s, want %s", text, want)
		}
	}
	is.Equal(srv.Revision(), uint64(4006)) // nothing has changed
}

func snapshotOf(t *testing.T, o fake.Options) []byte {
	t.Helper()
	data, err := fake.RunT(t, o).Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return data
}
