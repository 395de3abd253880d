package etcd

import (
	"sync"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/pack"
)

// Memory is a Store that keeps values as they are written. It begins at revision 1, like a new etcd.
type Memory struct {
	mu      sync.Mutex
	store   *mvcc.Store
	changed chan struct{}
	taken   map[string]uint64 // by prefix: the revision of the last Take
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory {
	return &Memory{store: mvcc.New(1), changed: make(chan struct{}), taken: map[string]uint64{}}
}

// Do implements Store.
func (m *Memory) Do(f func(Tx) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.store.Rev()
	err := f(memoryTx{m.store})
	if m.store.Rev() != before {
		close(m.changed)
		m.changed = make(chan struct{})
	}
	return err
}

// Changed implements Store.
func (m *Memory) Changed() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changed
}

// Write is one write of a Memory, or the end of its history before a revision.
type Write struct {
	Key       string `json:"key"`
	Value     []byte `json:"value"`
	Deleted   bool   `json:"deleted,omitempty"`
	Compacted bool   `json:"compacted,omitempty"` // the history before this write is compacted
}

// Take removes the keys below a prefix and returns their writes since the last Take in order, so that another Store can continue with
// them. If the history is compacted, the first writes are those of the keys that existed then.
func (m *Memory) Take(prefix string) (writes []Write) {
	r := Range{prefix, prefixEnd(prefix)}
	_ = m.Do(func(tx Tx) error {
		first := max(tx.Compacted(), m.taken[prefix])
		old, _ := tx.Range(r, first) // a revision that can be read
		for _, kv := range old {
			if value, err := kv.Value(); err == nil {
				writes = append(writes, Write{Key: kv.Key, Value: value})
			}
		}
		compacted := tx.Compacted() > 1
		_ = tx.Events(r, first+1, func(e Event) bool {
			w := Write{Key: e.key(), Deleted: e.Now == nil, Compacted: compacted}
			if e.Now != nil {
				w.Value, _ = e.Now.Value() // values of a Memory have no error
			}
			writes, compacted = append(writes, w), false
			return true
		})
		now, err := tx.Range(r, 0)
		for _, kv := range now {
			err = tx.Delete(kv.Key)
		}
		m.taken[prefix] = tx.Rev()
		return err
	})
	return writes
}

// memoryTx implements Tx.
type memoryTx struct{ *mvcc.Store }

func (tx memoryTx) Put(key string, value []byte) error {
	tx.Store.Put(key, pack.New(value), nil)
	return nil
}

func (tx memoryTx) Delete(key string) error {
	tx.Store.Delete(key)
	return nil
}

func (tx memoryTx) Range(r Range, rev uint64) ([]KV, error) {
	view, err := tx.At(rev)
	if err != nil {
		return nil, err
	}
	var all []KV
	view.Range("", r.Key, func(kv *mvcc.KV) bool {
		if !r.contains(kv.Key) {
			return false
		}
		all = append(all, *memoryKV(kv))
		return true
	})
	return all, nil
}

func (tx memoryTx) Events(r Range, from uint64, yield func(Event) bool) error {
	return eventsFrom(tx.Store, from, func(e *mvcc.Event) bool {
		return !r.contains(e.Key) || yield(Event{e.Rev, memoryKV(e.KV), memoryKV(e.Prev)})
	})
}

func memoryKV(kv *mvcc.KV) *KV {
	if kv == nil {
		return nil
	}
	return newKV(kv.Key, kv, memoryValue{kv})
}

// Empty reports whether there are no keys.
func (m *Memory) Empty() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.store.List(nil)) == 0
}

// memoryValue implements value.
type memoryValue struct{ *mvcc.KV }

func (v memoryValue) bytes() ([]byte, error) { return v.Value(), nil }
