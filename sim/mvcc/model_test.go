package mvcc_test

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/mvcc"
)

// model is the simplest possible store: a list of all writes in order. Each read scans the whole list.
type model struct {
	rev       uint64
	compacted uint64
	writes    []write
}

type write struct {
	rev     uint64
	key     string
	value   string
	deleted bool
}

func newModel(rev uint64) *model { return &model{rev: rev, compacted: rev} }

func (m *model) put(key, value string) {
	m.rev++
	m.writes = append(m.writes, write{rev: m.rev, key: key, value: value})
}

func (m *model) delete(key string) bool {
	if m.get(key, m.rev) == "" {
		return false
	}
	m.rev++
	m.writes = append(m.writes, write{rev: m.rev, key: key, deleted: true})
	return true
}

// get returns the entry of a key at a revision, such as "z@2-4", or "" if the key does not exist.
func (m *model) get(key string, rev uint64) string {
	var created, modified uint64
	var value string
	for _, w := range m.writes {
		switch {
		case w.key != key || w.rev > rev:
		case w.deleted:
			created = 0
		default:
			if created == 0 {
				created = w.rev
			}
			modified, value = w.rev, w.value
		}
	}
	if created == 0 {
		return ""
	}
	return entry(value, created, modified)
}

// read returns the error that a read at revision rev must return, or nil. Revision 0 is not supported.
func (m *model) read(rev uint64) error {
	switch {
	case rev > m.rev:
		return mvcc.ErrFutureRevision
	case rev < m.compacted:
		return mvcc.ErrCompacted
	}
	return nil
}

func (m *model) compact(rev uint64) error {
	switch {
	case rev > m.rev:
		return mvcc.ErrFutureRevision
	case rev <= m.compacted:
		return mvcc.ErrCompacted
	}
	m.compacted = rev
	return nil
}

// fork returns a copy of the model with the writes up to rev, or the error of a fork at rev.
func (m *model) fork(rev uint64) (*model, error) {
	if rev == 0 {
		rev = m.rev
	}
	if err := m.read(rev); err != nil {
		return nil, err
	}
	f := &model{rev: rev, compacted: m.compacted}
	for _, w := range m.writes {
		if w.rev <= rev {
			f.writes = append(f.writes, w)
		}
	}
	return f, nil
}

func (m *model) restore(rev uint64) error {
	f, err := m.fork(rev)
	if err == nil {
		*m = *f
	}
	return err
}

// keys returns all keys ever written, sorted.
func (m *model) keys() []string {
	var keys []string
	for _, w := range m.writes {
		keys = append(keys, w.key)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// rangeAt returns the entries of a range, such as "{a: z@2-4, b: y@3}", and their number.
func (m *model) rangeAt(rev uint64, prefix, from string) (string, int) {
	var all []string
	for _, key := range m.keys() {
		if kv := m.get(key, rev); kv != "" && strings.HasPrefix(key, prefix) && key >= from {
			all = append(all, key+": "+kv)
		}
	}
	return "{" + strings.Join(all, ", ") + "}", len(all)
}

// events returns the commits after a revision, such as "put a, was x@2".
func (m *model) events(after uint64) ([]string, error) {
	if after < m.rev && after+1 < m.compacted {
		return nil, mvcc.ErrCompacted
	}
	var all []string
	for _, w := range m.writes {
		if w.rev > after && w.rev >= m.compacted {
			all = append(all, commit(w.rev, w.key, m.get(w.key, w.rev), m.get(w.key, w.rev-1)))
		}
	}
	return all, nil
}

func entry(value string, created, modified uint64) string {
	if created == modified {
		return fmt.Sprintf("%s@%d", value, modified)
	}
	return fmt.Sprintf("%s@%d-%d", value, created, modified)
}

func commit(rev uint64, key, now, prev string) string {
	text := fmt.Sprintf("%d put %s: %s", rev, key, now)
	if now == "" {
		text = fmt.Sprintf("%d delete %s", rev, key)
	}
	if prev != "" {
		text += ", was " + prev
	}
	return text
}

// The following functions return strings in the same form for a store.

func storeEntry(kv *mvcc.KV) string {
	if kv == nil {
		return ""
	}
	return entry(string(kv.Value()), kv.CreateRev, kv.ModRev)
}

func viewRange(v *mvcc.View, prefix, from string) string {
	return yielded(func(yield func(*mvcc.KV) bool) { v.Range(prefix, from, yield) })
}

func storeList(s *mvcc.Store, prefix string) string {
	return yielded(slices.Values(s.List([]byte(prefix))))
}

func yielded(all iter.Seq[*mvcc.KV]) string {
	var out []string
	for kv := range all {
		out = append(out, kv.Key+": "+storeEntry(kv))
	}
	return "{" + strings.Join(out, ", ") + "}"
}

func storeEvents(s *mvcc.Store, after uint64) ([]string, error) {
	var all []string
	err := s.Events(after, func(e *mvcc.Event) bool {
		all = append(all, commit(e.Rev, e.Key, storeEntry(e.KV), storeEntry(e.Prev)))
		return true
	})
	return all, err
}

// ranges lists the ranges that check reads.
var ranges = []struct{ prefix, from string }{
	{"", ""}, {"a", ""}, {"a/", ""}, {"", "a/b"}, {"a/", "a"}, {"a/", "a/c"}, {"a/", "b"}, {"b", "a"}, {"zzz", ""},
}

// check compares the results of all reads of a store with the model.
func check(s *mvcc.Store, m *model) error {
	if s.Rev() != m.rev || s.Compacted() != m.compacted {
		return fmt.Errorf("revisions %d to %d, want %d to %d", s.Compacted(), s.Rev(), m.compacted, m.rev)
	}
	for asked := uint64(0); asked <= m.rev+1; asked++ {
		events, err := storeEvents(s, asked)
		wantEvents, wantErr := m.events(asked)
		if !slices.Equal(events, wantEvents) || !errors.Is(err, wantErr) {
			return fmt.Errorf("events after %d: %q %v, want %q %v", asked, events, err, wantEvents, wantErr)
		}
		rev := asked
		if asked == 0 {
			rev = m.rev // revision 0 is the current one
		}
		v, err := s.At(asked)
		if wantErr := m.read(rev); !errors.Is(err, wantErr) {
			return fmt.Errorf("At(%d): %v, want %v", asked, err, wantErr)
		}
		if err != nil {
			continue // as expected
		}
		if err := checkView(s, v, m, rev); err != nil {
			return err
		}
	}
	for _, r := range ranges {
		want, _ := m.rangeAt(m.rev, r.prefix, "")
		if got := storeList(s, r.prefix); got != want {
			return fmt.Errorf("list of %q: %s, want %s", r.prefix, got, want)
		}
	}
	return nil
}

// checkView compares all reads of one revision with the model.
func checkView(s *mvcc.Store, v *mvcc.View, m *model, rev uint64) error {
	if v.Rev() != rev {
		return fmt.Errorf("the view of %d says %d", rev, v.Rev())
	}
	for _, r := range ranges {
		want, count := m.rangeAt(rev, r.prefix, r.from)
		if got := viewRange(v, r.prefix, r.from); got != want {
			return fmt.Errorf("range %q from %q at %d: %s, want %s", r.prefix, r.from, rev, got, want)
		}
		if got := v.Made().Count(r.prefix, r.from); got != count {
			return fmt.Errorf("count %q from %q at %d: %d, want %d", r.prefix, r.from, rev, got, count)
		}
	}
	for _, key := range append(m.keys(), "", "never written") {
		kv, err := s.Get(key, rev)
		if got, want := storeEntry(kv), m.get(key, rev); got != want || err != nil {
			return fmt.Errorf("%q at %d: %s %v, want %s", key, rev, got, err, want)
		}
	}
	return nil
}
