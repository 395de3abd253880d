package archive

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/trace"
	"github.com/tidwall/buntdb"
)

// Query says which records of the trace are asked for: those that meet all that is set.
type Query struct {
	// What is the resource, as pods, deployments.apps or pods/status.
	What string
	// Key is the object, as default/a; with What it names one.
	Key string
	// Site is what the record is about.
	Site trace.Site
	// From and Until bound the time, both included. Zero: no bound.
	From, Until time.Time
	// Limit is how many records there are at most. 0: all.
	Limit int
}

// Names of the indexes.
const (
	byObject = "object" // resource, then key
	bySite   = "site"
)

// Search returns the records of the trace that a query asks for, in the order in which they happened. An index finds
// them: that of objects for a query with What, that of sites for one with Site, else that of times.
func (a *Archive) Search(q Query) ([]trace.Record, error) {
	var found []trace.Record
	var bad error
	take := func(key, line string) bool {
		r, err := trace.ParseRecord([]byte(line))
		if err != nil {
			bad = fmt.Errorf("%s: %w", key, err)
			return false
		}
		if q.matches(&r) {
			found = append(found, r)
		}
		return true
	}
	err := a.view(func(db *buntdb.DB) error {
		if err := db.CreateIndex(byObject, "trace:*", buntdb.IndexJSON("what"), buntdb.IndexJSON("key")); err != nil {
			return err
		}
		return db.CreateIndex(bySite, "trace:*", buntdb.IndexJSON("site"))
	}, func(tx *buntdb.Tx) error { return q.ask(tx, take) })
	if err = errors.Join(err, bad); err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	slices.SortFunc(found, func(a, b trace.Record) int { return cmp.Compare(a.N, b.N) })
	if q.Limit > 0 && len(found) > q.Limit {
		found = found[:q.Limit]
	}
	return found, nil
}

// matches reports whether a record meets all that is set.
func (q *Query) matches(r *trace.Record) bool {
	return (q.What == "" || r.What == q.What) && (q.Key == "" || r.Key == q.Key) && (q.Site == "" || r.Site == q.Site) &&
		(q.From.IsZero() || !r.At.Before(q.From)) && (q.Until.IsZero() || !r.At.After(q.Until))
}

// pivot is the JSON that an index compares with.
func pivot(q map[string]string) string {
	b, err := json.Marshal(q)
	if err != nil {
		panic("archive: strings cannot be printed: " + err.Error())
	}
	return string(b)
}

// ask yields what the best index has.
func (q *Query) ask(tx *buntdb.Tx, take func(key, line string) bool) error {
	switch {
	case q.What != "" && q.Key != "":
		return tx.AscendEqual(byObject, pivot(map[string]string{"what": q.What, "key": q.Key}), take)
	case q.What != "":
		return tx.AscendGreaterOrEqual(byObject, pivot(map[string]string{"what": q.What}), func(key, line string) bool {
			r, err := trace.ParseRecord([]byte(line))
			return (err != nil || r.What == q.What) && take(key, line)
		})
	case q.Site != "":
		return tx.AscendEqual(bySite, pivot(map[string]string{"site": string(q.Site)}), take)
	}
	from, until := int64(math.MinInt64), int64(math.MaxInt64)
	if !q.From.IsZero() {
		from = q.From.UnixNano()
	}
	if !q.Until.IsZero() {
		until = q.Until.UnixNano()
	}
	end := recordKey(until, math.MaxUint64)
	return tx.AscendGreaterOrEqual("", recordKey(from, 0), func(key, line string) bool {
		return key <= end && take(key, line)
	})
}
