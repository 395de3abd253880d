package etcd

import (
	"cmp"
	"slices"
	"strings"
)

// header returns ResponseHeader { cluster_id = 1, member_id = 2, revision = 3, raft_term = 4 }.
func header(tx Tx) *builder {
	return new(builder).Number(1, clusterID).Number(2, memberID).Number(3, int64(tx.Rev())).Number(4, raftTerm)
}

// encode returns KeyValue { key = 1, create_revision = 2, mod_revision = 3, version = 4, value = 5, lease = 6 }.
func (kv *KV) encode(keysOnly bool) (*builder, error) {
	b := new(builder).Text(1, kv.Key).Number(2, int64(kv.Create)).Number(3, int64(kv.Mod)).Number(4, int64(kv.Version))
	if !keysOnly {
		value, err := kv.Value()
		if err != nil {
			return nil, err
		}
		b.Text(5, string(value))
	}
	return b.Number(6, kv.Lease), nil
}

// rangeRequest is RangeRequest { key = 1, range_end = 2, limit = 3, revision = 4, sort_order = 5, sort_target = 6, serializable = 7,
// keys_only = 8, count_only = 9, min_mod_revision = 10, max_mod_revision = 11, min_create_revision = 12, max_create_revision = 13 }.
type rangeRequest struct{ message }

func (s *Service) serveRange(m message) (answer *builder, err error) {
	err = s.store.Do(func(tx Tx) (err error) {
		answer, err = s.ranged(tx, rangeRequest{m})
		return err
	})
	return answer, err
}

// ranged returns RangeResponse { header = 1, kvs = 2, more = 3, count = 4 }.
func (s *Service) ranged(tx Tx, q rangeRequest) (*builder, error) {
	r, err := rangeOf(q.message)
	if err != nil {
		return nil, err
	}
	found, err := tx.Range(r, uint64(q.Number(4)))
	if err != nil {
		return nil, statusOf(err)
	}
	count := int64(len(found))
	answer := new(builder).Message(1, header(tx))
	if q.Is(9) {
		return answer.Number(4, count), nil
	}
	found = slices.DeleteFunc(found, func(kv KV) bool { return !q.wants(kv) })
	if err := q.sort(found); err != nil {
		return nil, err
	}
	more := false
	if limit := q.Number(3); limit > 0 && int64(len(found)) > limit {
		found, more = found[:limit], true
	}
	for _, kv := range found {
		kv.Lease = s.leases.of(kv.Key)
		inner, err := kv.encode(q.Is(8))
		if err != nil {
			return nil, err
		}
		answer.Message(2, inner)
	}
	return answer.Bool(3, more).Number(4, count), nil
}

// wants reports whether the revisions of a key are within the limits of the request.
func (q rangeRequest) wants(kv KV) bool {
	within := func(rev uint64, low, high int64) bool {
		return (low == 0 || rev >= uint64(low)) && (high == 0 || rev <= uint64(high))
	}
	return within(kv.Mod, q.Number(10), q.Number(11)) && within(kv.Create, q.Number(12), q.Number(13))
}

// sort sorts keys in the order of the request: NONE = 0, ASCEND = 1, DESCEND = 2, by KEY = 0, VERSION = 1, CREATE = 2, MOD = 3 or VALUE = 4.
func (q rangeRequest) sort(found []KV) (err error) {
	order, target := q.Number(5), q.Number(6)
	if order == 0 && target == 0 {
		return nil
	}
	slices.SortStableFunc(found, func(a, b KV) int {
		c := 0
		switch target {
		case 0:
			c = strings.Compare(a.Key, b.Key)
		case 1:
			c = cmp.Compare(a.Version, b.Version)
		case 2:
			c = cmp.Compare(a.Create, b.Create)
		case 3:
			c = cmp.Compare(a.Mod, b.Mod)
		default:
			x, err1 := a.Value()
			y, err2 := b.Value()
			err = cmp.Or(err, err1, err2)
			c = slices.Compare(x, y)
		}
		if order == 2 {
			return -c
		}
		return c
	})
	return err
}

// rangeOf returns the range of a request with key = 1 and range_end = 2.
func rangeOf(m message) (Range, error) {
	r := Range{m.Text(1), m.Text(2)}
	if r.Key == "" {
		return r, errEmptyKey
	}
	return r, nil
}

func (s *Service) servePut(m message) (answer *builder, err error) {
	err = s.write(func(tx Tx) (err error) {
		answer, err = s.put(tx, m)
		return err
	})
	return answer, err
}

// put handles PutRequest { key = 1, value = 2, lease = 3, prev_kv = 4, ignore_value = 5, ignore_lease = 6 }. It returns PutResponse
// { header = 1, prev_kv = 2 }.
func (s *Service) put(tx Tx, q message) (*builder, error) {
	key, value, id := q.Text(1), []byte(q.Text(2)), q.Number(3)
	switch {
	case key == "":
		return nil, errEmptyKey
	case q.Is(5) && len(value) > 0:
		return nil, errValueGiven
	case q.Is(6) && id != 0:
		return nil, errLeaseGiven
	case id != 0 && s.leases.get(id) == nil:
		return nil, errNoLease
	}
	before, err := tx.Range(Range{Key: key}, 0)
	if err != nil {
		return nil, err
	}
	if (q.Is(5) || q.Is(6)) && len(before) == 0 {
		return nil, errKeyNotFound
	}
	var prev *builder
	if len(before) > 0 {
		before[0].Lease = s.leases.of(key)
		if q.Is(5) {
			if value, err = before[0].Value(); err != nil {
				return nil, err
			}
		}
		if q.Is(4) {
			if prev, err = before[0].encode(false); err != nil {
				return nil, err
			}
		}
	}
	if err := tx.Put(key, value); err != nil {
		return nil, err
	}
	if !q.Is(6) {
		s.leases.attach(key, id)
	}
	answer := new(builder).Message(1, header(tx))
	if prev != nil {
		answer.Message(2, prev)
	}
	return answer, nil
}

func (s *Service) serveDelete(m message) (answer *builder, err error) {
	err = s.write(func(tx Tx) (err error) {
		answer, err = s.remove(tx, m)
		return err
	})
	return answer, err
}

// remove handles DeleteRangeRequest { key = 1, range_end = 2, prev_kv = 3 }. It returns DeleteRangeResponse { header = 1, deleted = 2,
// prev_kvs = 3 }.
func (s *Service) remove(tx Tx, q message) (*builder, error) {
	r, err := rangeOf(q)
	if err != nil {
		return nil, err
	}
	found, err := tx.Range(r, 0)
	if err != nil {
		return nil, err
	}
	var removed []*builder
	for _, kv := range found {
		if q.Is(3) {
			kv.Lease = s.leases.of(kv.Key)
			inner, err := kv.encode(false)
			if err != nil {
				return nil, err
			}
			removed = append(removed, inner)
		}
		if err := tx.Delete(kv.Key); err != nil {
			return nil, err
		}
		s.leases.attach(kv.Key, 0)
	}
	answer := new(builder).Message(1, header(tx)).Number(2, int64(len(found)))
	for _, inner := range removed {
		answer.Message(3, inner)
	}
	return answer, nil
}

// serveCompact handles CompactionRequest { revision = 1, physical = 2 }. It returns CompactionResponse { header = 1 }.
func (s *Service) serveCompact(q message) (answer *builder, err error) {
	err = s.store.Do(func(tx Tx) error {
		if err := tx.Compact(uint64(q.Number(1))); err != nil {
			return statusOf(err)
		}
		answer = new(builder).Message(1, header(tx))
		return nil
	})
	return answer, err
}

// write calls f with exclusive access to the store and to the leases of keys.
func (s *Service) write(f func(Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store.Do(f)
}
