package etcd

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake/grpc"
)

// started returns a client of an etcd with a=1, b=2 and c=3 at the revisions 2, 3 and 4, and a=4 at the revision 5.
func started(t *testing.T) (etcdctl, *clock.Manual) {
	t.Helper()
	now := clock.NewManual(clock.Epoch())
	c := serve(t, New(NewMemory(), now))
	for i, key := range strings.Fields("a b c a") {
		if rev := c.put(key, fmt.Sprint(i+1)); rev != int64(i+2) {
			t.Fatalf("the revision of put %d is %d", i+1, rev)
		}
	}
	return c, now
}

// TestRange checks the fields of a RangeRequest.
func TestRange(t *testing.T) {
	t.Parallel()
	c, _ := started(t)
	for _, x := range []struct {
		name    string
		request *builder
		want    string
	}{
		{"a key", from("b", ""), "b=2"},
		{"a missing key", from("bb", ""), ""},
		{"a range", from("a", "c"), "a=4 b=2"},
		{"all keys from one on", from("b", "\x00"), "b=2 c=3"},
		{"a limit", from("a", "\x00").Number(3, 2), "a=4 b=2"},
		{"a revision", from("a", "\x00").Number(4, 3), "a=1 b=2"},
		{"a revision in the future", from("a", "").Number(4, 6), "etcdserver: mvcc: required revision is a future revision"},
		{"descending", from("a", "\x00").Number(5, 2), "c=3 b=2 a=4"},
		{"by value, descending", from("a", "\x00").Number(5, 2).Number(6, 4), "a=4 c=3 b=2"},
		{"by creation, descending", from("a", "\x00").Number(5, 2).Number(6, 2), "c=3 b=2 a=4"},
		{"by version", from("a", "\x00").Number(6, 1), "b=2 c=3 a=4"},
		{"keys only", from("a", "c").Bool(8, true), "a= b="},
		{"only the number", from("a", "\x00").Bool(9, true), ""},
		{"modified from 4 on", from("a", "\x00").Number(10, 4), "a=4 c=3"},
		{"created until 3", from("a", "\x00").Number(13, 3), "a=4 b=2"},
		{"no key", from("", ""), "etcdserver: key is not provided"},
	} {
		if got := c.get(x.request); got != x.want {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
	is := is.New(t)
	m := c.must("KV/Range", from("a", "\x00").Number(3, 2))
	is.True(m.Is(3)) // there are more
	is.Equal(m.Number(4), int64(3))
	kv, err := m.Inner(2)
	is.NoErr(err)
	is.Equal([]int64{kv.Number(2), kv.Number(3), kv.Number(4)}, []int64{2, 5, 2}) // create_revision, mod_revision, version

	c.must("KV/Compact", new(builder).Number(1, 4))
	is.Equal(c.get(from("a", "").Number(4, 3)), "etcdserver: mvcc: required revision has been compacted")
	is.Equal(c.get(from("a", "").Number(4, 4)), "a=1")
	_, failure := c.call("KV/Compact", new(builder).Number(1, 4))
	is.Equal(failure, "etcdserver: mvcc: required revision has been compacted")
}

// TestWrites checks the responses to puts and deletes.
func TestWrites(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c, _ := started(t)
	m := c.must("KV/Put", new(builder).Text(1, "b").Text(2, "5").Bool(4, true))
	is.Equal(pairs(t, m, 2), "b=2")
	c.must("KV/Put", new(builder).Text(1, "b").Bool(5, true)) // writes the value that it has
	is.Equal(c.get(from("b", "")), "b=5")
	_, failure := c.call("KV/Put", new(builder).Text(1, "x").Bool(5, true))
	is.Equal(failure, "etcdserver: key not found")
	m = c.must("KV/DeleteRange", from("a", "c").Bool(3, true))
	is.Equal(m.Number(2), int64(2))
	is.Equal(pairs(t, m, 3), "a=4 b=5")
	is.Equal(revision(m), int64(9))
	is.Equal(c.must("KV/DeleteRange", from("a", "c")).Number(2), int64(0))
	_, failure = c.call("Auth/UserList", new(builder))
	is.Equal(failure, "kubesim's etcd does not implement /etcdserverpb.Auth/UserList")
}

// TestTxn checks comparisons, both branches, and the responses of all operations.
func TestTxn(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c, _ := started(t)
	put := func(key, value string) *builder {
		return new(builder).Message(2, new(builder).Text(1, key).Text(2, value))
	}
	compare := func(result, target int64, key string, field fieldNumber, value int64) *builder {
		return new(builder).Number(1, result).Number(2, target).Text(3, key).Number(field, value)
	}
	for _, x := range []struct {
		name string
		with *builder
		want bool
	}{
		{"mod = 5", compare(0, 2, "a", 6, 5), true},
		{"mod = 4", compare(0, 2, "a", 6, 4), false},
		{"mod of a missing key = 0", compare(0, 2, "x", 6, 0), true},
		{"version > 1", compare(1, 0, "a", 4, 1), true},
		{"create < 2", compare(2, 1, "a", 5, 2), false},
		{"create != 3", compare(3, 1, "a", 5, 3), true},
		{"value = 4", new(builder).Number(2, 3).Text(3, "a").Text(7, "4"), true},
		{"value of a missing key", new(builder).Number(1, 3).Number(2, 3).Text(3, "x").Text(7, "4"), false},
		{"all values > 1", new(builder).Number(1, 1).Number(2, 3).Text(3, "a").Text(7, "1").Text(64, "\x00"), true},
		{"all values > 2", new(builder).Number(1, 1).Number(2, 3).Text(3, "a").Text(7, "2").Text(64, "\x00"), false},
		{"no lease", compare(0, 4, "a", 8, 0), true},
	} {
		if got := c.must("KV/Txn", new(builder).Message(1, x.with)).Is(2); got != x.want {
			t.Errorf("%s: %t", x.name, got)
		}
	}
	q := new(builder).Message(1, compare(0, 2, "a", 6, 4))
	q.Message(2, put("d", "success"))
	q.Message(3, put("d", "failure"))
	q.Message(3, new(builder).Message(1, from("a", "\x00")))
	q.Message(3, new(builder).Message(3, from("a", "")))
	q.Message(3, new(builder).Message(4, new(builder).Message(2, put("e", "inner"))))
	m := c.must("KV/Txn", q)
	is.True(!m.Is(2))
	responses, err := m.Messages(3)
	is.NoErr(err)
	is.Equal(len(responses), 4)
	found, err := responses[1].Inner(1)
	is.NoErr(err)
	is.Equal(pairs(t, found, 2), "a=4 b=2 c=3 d=failure")
	is.Equal(c.get(from("a", "\x00")), "b=2 c=3 d=failure e=inner")
	_, failure := c.call("KV/Txn", new(builder).Message(2, put("f", "1")).Message(2, put("f", "2")))
	is.Equal(failure, "etcdserver: duplicate key given in txn request")
}

// TestWatch checks the events of a watch from a revision, of one from now on, its end, and one of a compacted revision.
func TestWatch(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c, _ := started(t)
	create := func(q *builder) *builder { return new(builder).Message(1, q) }
	w := c.watch(create(from("a", "b").Number(3, 2).Bool(6, true)))
	is.True(w.next().Is(3)) // created
	text := func(m message) (all string) {
		events, err := m.Messages(11)
		is.NoErr(err)
		for _, e := range events {
			all += fmt.Sprintf("%d %s<%s; ", e.Number(1), pairs(t, e, 2), pairs(t, e, 3))
		}
		return all
	}
	is.Equal(text(w.next()), "0 a=1<; 0 a=4<a=1; ")
	w.send(create(from("b", "\x00").Number(5, 0)))
	m := w.next()
	is.Equal([]any{m.Is(3), m.Number(2)}, []any{true, int64(1)})
	c.must("KV/DeleteRange", from("a", "c"))
	m = w.next()
	is.Equal(text(m), "1 a=<a=4; ")
	m = w.next()
	is.Equal([]any{m.Number(2), text(m)}, []any{int64(1), "1 b=<; "})
	w.send(new(builder).Message(2, new(builder).Number(1, 1))) // cancel
	m = w.next()
	is.Equal([]any{m.Number(2), m.Is(4)}, []any{int64(1), true})
	c.put("b", "6")
	w.send(new(builder).Message(3, new(builder))) // progress
	m = w.next()
	is.Equal([]any{m.Number(2), revision(m)}, []any{int64(-1), int64(8)})
	c.must("KV/Compact", new(builder).Number(1, 7))
	w.send(create(from("b", "").Number(3, 3)))
	w.next()
	m = w.next()
	is.Equal([]any{m.Is(4), m.Number(5)}, []any{true, int64(7)}) // canceled, compact_revision
}

// TestWatchFilters checks the filters, packed as client libraries send them.
func TestWatchFilters(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c, _ := started(t)
	w := c.watch(new(builder).Message(1, from("a", "\x00").Text(5, "\x00"))) // NOPUT
	w.next()
	c.put("a", "5")
	c.must("KV/DeleteRange", from("a", ""))
	m := w.next()
	events, err := m.Messages(11)
	is.NoErr(err)
	is.Equal(len(events), 1)
	is.Equal(events[0].Number(1), int64(1)) // DELETE
}

// TestLeases checks that a lease removes its keys when it expires or is revoked.
func TestLeases(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c, now := started(t)
	id := c.must("Lease/LeaseGrant", new(builder).Number(1, 10)).Number(2)
	put := func(key string) {
		c.must("KV/Put", new(builder).Text(1, key).Text(2, "x").Number(3, id))
	}
	put("d")
	put("e")
	c.put("e", "free") // without a lease
	m := c.must("Lease/LeaseTimeToLive", new(builder).Number(1, id).Bool(2, true))
	is.Equal([]any{m.Number(3), m.Number(4), m.Text(5)}, []any{int64(10), int64(10), "d"})
	now.Advance(6 * time.Second)
	is.Equal(c.must("Lease/LeaseKeepAlive", new(builder).Number(1, id)).Number(3), int64(10))
	now.Advance(6 * time.Second)
	is.Equal(c.get(from("d", "\x00")), "d=x e=free")
	now.Advance(4 * time.Second)
	is.Equal(c.get(from("d", "\x00")), "e=free")
	is.Equal(c.must("Lease/LeaseKeepAlive", new(builder).Number(1, id)).Number(3), int64(0))
	_, failure := c.call("KV/Put", new(builder).Text(1, "d").Number(3, id))
	is.Equal(failure, "etcdserver: requested lease not found")
	id = c.must("Lease/LeaseGrant", new(builder).Number(1, 10).Number(2, 7)).Number(2)
	is.Equal(id, int64(7))
	put("d")
	is.Equal(len(c.must("Lease/LeaseLeases", new(builder)).All(2)), 1)
	c.must("Lease/LeaseRevoke", new(builder).Number(1, id))
	is.Equal(c.get(from("d", "\x00")), "e=free")
}

// TestTake checks that the keys below a prefix can be taken with their history since a compaction.
func TestTake(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	m := NewMemory()
	c := serve(t, New(m, clock.NewManual(clock.Epoch())))
	c.put("/p/a", "1")
	c.put("/q", "1")
	c.put("/p/b", "1")
	c.must("KV/DeleteRange", from("/p/a", ""))
	c.must("KV/Compact", new(builder).Number(1, 4))
	c.put("/p/b", "2")
	is.Equal(m.Take("/p/"), []Write{{Key: "/p/a", Value: []byte("1")}, {Key: "/p/b", Value: []byte("1")}, {Key: "/p/a", Deleted: true, Compacted: true}, {Key: "/p/b", Value: []byte("2")}})
	is.Equal(c.get(from("/", "\x00")), "/q=1")
	is.Equal(len(m.Take("/p/")), 0)
}

// TestKeysOf checks which keys a call concerns.
func TestKeysOf(t *testing.T) {
	t.Parallel()
	put := new(builder).Text(1, "k").Text(2, "value")
	for _, x := range []struct {
		path  string
		first *builder
		want  Range
	}{
		{"KV/Range", from("a", "b"), Range{"a", "b"}},
		{"KV/Put", put, Range{"k", ""}},
		{"KV/Txn", new(builder).Message(1, new(builder).Text(3, "c")), Range{"c", ""}},
		{"KV/Txn", new(builder).Message(3, new(builder).Message(2, put)), Range{"k", ""}},
		{"Watch/Watch", new(builder).Message(1, from("a", "b")), Range{"a", "b"}},
		{"KV/Compact", new(builder).Number(1, 5), Range{}},
		{"Maintenance/Status", new(builder), Range{}},
	} {
		got, err := KeysOf("/etcdserverpb."+x.path, x.first.Bytes)
		if err != nil || got != x.want {
			t.Errorf("%s: %v %v, want %v", x.path, got, err, x.want)
		}
	}
}

// FuzzParse checks that no message makes a call panic.
func FuzzParse(f *testing.F) {
	f.Add(from("a", "b").Number(5, 2).Bytes)
	f.Add(new(builder).Message(1, new(builder).Text(3, "a")).Message(2, new(builder).Message(2, from("a", "b"))).Bytes)
	f.Fuzz(func(t *testing.T, data []byte) {
		s := New(NewMemory(), clock.NewManual(clock.Epoch()))
		m, err := grpc.Parse(data)
		if err != nil {
			return
		}
		for path, method := range unary { // order does not matter: only a panic is a failure
			if _, err := KeysOf(path, data); err != nil {
				continue
			}
			_, _ = method(s, m)
		}
	})
}

// TestBrowser checks that a request of a browser, over HTTP/1, has no effect.
func TestBrowser(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := New(NewMemory(), clock.NewManual(clock.Epoch()))
	w := httptest.NewRecorder()
	q := httptest.NewRequest("POST", "/etcdserverpb.KV/Put", strings.NewReader(string(grpc.Frame(from("a", "1").Bytes))))
	q.Header.Set("Content-Type", "application/grpc")
	s.ServeHTTP(w, q)
	is.Equal(w.Code, 501)
	is.Equal(serve(t, s).get(from("a", "")), "")
}
