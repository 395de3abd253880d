package mvcc_test

import (
	"fmt"
	"testing"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/pack"
)

const benchKeys = 10_000

// benchStore returns a store of 10,000 keys with values of 2 KB, the keys, and a value.
func benchStore() (*mvcc.Store, []string, []byte) {
	s := mvcc.New(1)
	keys := make([]string, benchKeys)
	value := make([]byte, 2048)
	for i := range keys {
		keys[i] = fmt.Sprintf("/registry/pods/namespace-%02d/pod-%06d", i%20, i)
		s.Put(keys[i], pack.New(value), nil)
	}
	return s, keys, value
}

// place returns the index of the key that the ith write changes. All keys are written, because 7919 and 10,000 have no common
// factor.
func place(i int) int { return i * 7919 % benchKeys }

// historyMax is the number of revisions after which a benchmark compacts.
const historyMax = 20_000

func BenchmarkPut(b *testing.B) {
	s, keys, value := benchStore()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Put(keys[place(i)], pack.New(value), nil)
		if s.Rev()-s.Compacted() > historyMax {
			_ = s.Compact(s.Rev() - historyMax/2)
		}
	}
}

func BenchmarkPutDelete(b *testing.B) {
	s, keys, value := benchStore()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Delete(keys[place(i)])
		s.Put(keys[place(i)], pack.New(value), nil)
		if s.Rev()-s.Compacted() > historyMax {
			_ = s.Compact(s.Rev() - historyMax/2)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	s, keys, _ := benchStore()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if kv, err := s.Get(keys[place(i)], 0); kv == nil || err != nil {
			b.Fatal(kv, err)
		}
	}
}

func BenchmarkAt(b *testing.B) {
	s, _, _ := benchStore()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := s.At(uint64(1 + place(i))); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFork(b *testing.B) {
	s, keys, value := benchStore()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		f, err := s.Fork(0)
		if err != nil {
			b.Fatal(err)
		}
		f.Put(keys[place(i)], pack.New(value), nil)
	}
}

// BenchmarkRange reads one of 20 namespaces, which has 500 keys.
func BenchmarkRange(b *testing.B) {
	s, _, _ := benchStore()
	v, err := s.At(0)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		v.Range("/registry/pods/namespace-07/", "", func(*mvcc.KV) bool { n++; return true })
		if n != benchKeys/20 {
			b.Fatal(n)
		}
	}
}

// BenchmarkCount counts all keys except the first, as the first page of a list with limit=1 does. The duration hardly depends on
// the number of keys.
func BenchmarkCount(b *testing.B) {
	for _, keys := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(keys), func(b *testing.B) {
			s := mvcc.New(1)
			for i := range keys {
				s.Put(fmt.Sprintf("/registry/pods/namespace-%02d/pod-%06d", i%20, i), nil, nil)
			}
			v, err := s.At(0)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if n := v.Count("/registry/pods/", "/registry/pods/namespace-00/pod-000001"); n != keys-1 {
					b.Fatal(n)
				}
			}
		})
	}
}
