package mvcc_test

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/pack"
)

// TestViewRange reads ranges of the following keys, which are in byte order:
//
//	/pods/a/x  /pods/a/y  /pods/a/z  /pods/aa/x  /pods/b/x  /podsets/a/x
//	|------ /pods/a/ -----|
//	|------------ /pods/a -----------|
//	|----------------- /pods/ ------------------|
func TestViewRange(t *testing.T) {
	t.Parallel()
	s := mvcc.New(1)
	for _, key := range []string{"/podsets/a/x", "/pods/b/x", "/pods/aa/x", "/pods/a/z", "/pods/a/y", "/pods/a/x"} {
		s.Put(key, nil, nil)
	}
	v, err := s.At(0)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name         string
		prefix, from string
		want         []string
	}{
		{"everything", "", "",
			[]string{"/pods/a/x", "/pods/a/y", "/pods/a/z", "/pods/aa/x", "/pods/b/x", "/podsets/a/x"}},
		{"a resource", "/pods/", "",
			[]string{"/pods/a/x", "/pods/a/y", "/pods/a/z", "/pods/aa/x", "/pods/b/x"}},
		{"a namespace", "/pods/a/", "",
			[]string{"/pods/a/x", "/pods/a/y", "/pods/a/z"}},
		{"a prefix that is no path", "/pods/a", "",
			[]string{"/pods/a/x", "/pods/a/y", "/pods/a/z", "/pods/aa/x"}},
		{"one key", "/pods/a/y", "",
			[]string{"/pods/a/y"}},
		{"from a key on", "/pods/a/", "/pods/a/y",
			[]string{"/pods/a/y", "/pods/a/z"}},
		{"after a key", "/pods/a/", "/pods/a/y\x00", // like the first key of a continue token
			[]string{"/pods/a/z"}},
		{"from a key between two", "/pods/", "/pods/a/zz",
			[]string{"/pods/aa/x", "/pods/b/x"}},
		{"from before the prefix", "/pods/a/", "/configmaps/",
			[]string{"/pods/a/x", "/pods/a/y", "/pods/a/z"}},
		{"from after the prefix", "/pods/a/", "/pods/b/", nil},
		{"after the last key", "/pods/a/", "/pods/a/z\x00", nil},
		{"a prefix nothing has", "/nodes/", "", nil},
		{"from after everything", "", "~", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			var got []string
			v.Range(test.prefix, test.from, func(kv *mvcc.KV) bool {
				got = append(got, kv.Key)
				return true
			})
			is.Equal(got, test.want)                                  // the keys in byte order
			is.Equal(v.Count(test.prefix, test.from), len(test.want)) // Count returns their number
		})
	}
}

func TestViewRangeStops(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := mvcc.New(1)
	for _, key := range []string{"a", "b", "c"} {
		s.Put(key, nil, nil)
	}
	v, err := s.At(0)
	is.NoErr(err)
	var got []string
	v.Range("", "", func(kv *mvcc.KV) bool {
		got = append(got, kv.Key)
		return len(got) < 2
	})
	is.Equal(got, []string{"a", "b"}) // no key after yield has returned false
}

// TestViewOutlivesCompaction checks that a view can be read after the store was compacted.
func TestViewOutlivesCompaction(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := mvcc.New(1)
	s.Put("a", pack.New([]byte("1")), nil)
	v, err := s.At(2)
	is.NoErr(err)
	s.Put("a", pack.New([]byte("2")), nil)
	is.NoErr(s.Compact(3))
	is.Equal(v.Rev(), uint64(2))              // still the revision it was taken at
	is.Equal(string(v.Get("a").Value()), "1") // still its value
	is.True(v.Get("b") == nil)                // an absent key is nil
	_, err = s.At(2)
	is.Equal(err, mvcc.ErrCompacted) // the store has it no more
}

// Count works for prefixes with arbitrary bytes, including invalid UTF-8.
func TestCountOfOddPrefix(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := mvcc.New(1)
	for _, key := range []string{"/a", "/\ufffda", "/\ufffdb", "/\uffff", "/\xff", "/\xff\xff", "\xff"} {
		s.Put(key, nil, nil)
	}
	v, err := s.At(0)
	is.NoErr(err)
	is.Equal(v.Count("/\ufffd", ""), 2)
	is.Equal(v.Count("/\xff", ""), 2)
	is.Equal(v.Count("\xff", ""), 1)
	is.Equal(v.Count("/", ""), 6)
}
