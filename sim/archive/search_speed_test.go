package archive

import (
	"fmt"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/trace"
)

// long returns an archive whose trace has 100,000 records, one per second, of 1,000 clients and 1,000 keys.
func long() *Archive {
	a := &Archive{}
	for i := range 100_000 {
		a.records = append(a.records, trace.Record{N: uint64(i + 1), At: clock.Epoch().Add(time.Duration(i) * time.Second),
			Site: trace.RequestArrived, Client: fmt.Sprintf("client-%d/v1.36 (linux/amd64)", i*7919%1000), Verb: "update", What: "pods",
			Key: fmt.Sprintf("default/p-%d", i*104729%1000)})
	}
	return a
}

// queries returns queries that each match 100 records of long.
func queries(a *Archive) map[string]Query {
	return map[string]Query{"client": {Client: a.records[77].Client}, "key": {Key: a.records[77].Key},
		"time": {From: a.records[50_000].At, Until: a.records[50_099].At}}
}

// scan searches without an index.
func scan(a *Archive, q *Query) (found []trace.Record) {
	for i := range a.records {
		if r := &a.records[i]; q.matches(r) && !r.At.Before(q.From) && (q.Until.IsZero() || !r.At.After(q.Until)) {
			found = append(found, *r)
		}
	}
	return found
}

// A search of 100,000 records by client, key or time is at least five times as fast as a scan.
func TestSearchPays(t *testing.T) {
	a := long()
	for name, q := range queries(a) {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			scanned, searched := time.Hour, time.Hour
			for range 20 {
				began := time.Now()
				want := scan(a, &q)
				between := time.Now()
				got, err := a.Search(q)
				scanned, searched = min(scanned, between.Sub(began)), min(searched, time.Since(between))
				is.NoErr(err)
				is.Equal(len(got), 100)
				is.Equal(got, want)
			}
			t.Logf("a scan takes %v, a search %v", scanned, searched)
			is.True(scanned >= 5*searched)
		})
	}
}

func BenchmarkSearch(b *testing.B) {
	a := long()
	b.Run("build", func(b *testing.B) {
		for b.Loop() {
			new(index).build(a.records)
		}
	})
	for name, q := range queries(a) {
		b.Run(name+"/scan", func(b *testing.B) {
			for b.Loop() {
				scan(a, &q)
			}
		})
		b.Run(name+"/search", func(b *testing.B) {
			for b.Loop() {
				if _, err := a.Search(q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
