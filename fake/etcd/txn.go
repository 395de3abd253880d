package etcd

import (
	"bytes"
	"cmp"
)

// serveTxn handles TxnRequest { compare = 1, success = 2, failure = 3 }. Each write of the transaction has a revision of its own,
// because each commit of kubesim's store concerns one key.
func (s *Service) serveTxn(m message) (answer *builder, err error) {
	err = s.write(func(tx Tx) (err error) {
		answer, err = s.txn(tx, m)
		return err
	})
	return answer, err
}

// txn returns TxnResponse { header = 1, succeeded = 2, responses = 3 }.
func (s *Service) txn(tx Tx, q message) (*builder, error) {
	compares, err := q.Messages(1)
	if err != nil {
		return nil, err
	}
	holds := true
	for _, c := range compares {
		ok, err := s.holds(tx, c)
		if err != nil {
			return nil, err
		}
		holds = holds && ok
	}
	branch, err := q.Messages(3)
	if holds {
		branch, err = q.Messages(2)
	}
	if err != nil {
		return nil, err
	}
	if err := checkWrites(branch); err != nil {
		return nil, err
	}
	var responses []*builder
	for _, op := range branch {
		r, err := s.operation(tx, op)
		if err != nil {
			return nil, err
		}
		responses = append(responses, r)
	}
	answer := new(builder).Message(1, header(tx)).Bool(2, holds)
	for _, r := range responses {
		answer.Message(3, r)
	}
	return answer, nil
}

// checkWrites returns an error if two operations put the same key.
func checkWrites(branch []message) error {
	puts := map[string]bool{}
	for _, op := range branch {
		all, err := op.Messages(2)
		if err != nil {
			return err
		}
		for _, put := range all {
			if key := put.Text(1); puts[key] {
				return errDuplicateKey
			} else {
				puts[key] = true
			}
		}
	}
	return nil
}

// operation handles RequestOp { request_range = 1, request_put = 2, request_delete_range = 3, request_txn = 4 }. It returns ResponseOp
// with the same fields.
func (s *Service) operation(tx Tx, op message) (*builder, error) {
	for field, handle := range []func(message) (*builder, error){
		func(q message) (*builder, error) { return s.ranged(tx, rangeRequest{q}) },
		func(q message) (*builder, error) { return s.put(tx, q) },
		func(q message) (*builder, error) { return s.remove(tx, q) },
		func(q message) (*builder, error) { return s.txn(tx, q) },
	} {
		number := 1 + int32(field)
		inner, err := op.Messages(fieldNumber(number))
		if err != nil {
			return nil, err
		}
		if len(inner) == 0 {
			continue
		}
		answer, err := handle(inner[len(inner)-1])
		if err != nil {
			return nil, err
		}
		return new(builder).Message(fieldNumber(number), answer), nil
	}
	return nil, errKeyNotFound
}

// holds evaluates Compare { result = 1, target = 2, key = 3, version = 4, create_revision = 5, mod_revision = 6, value = 7, lease = 8,
// range_end = 64 } for all keys of its range. A missing key has revisions and a version of 0; its value is equal to none.
func (s *Service) holds(tx Tx, c message) (bool, error) {
	r := Range{c.Text(3), c.Text(64)}
	if r.Key == "" {
		return false, errEmptyKey
	}
	found, err := tx.Range(r, 0)
	if err != nil {
		return false, err
	}
	const byValue = 3
	if len(found) == 0 {
		if c.Number(2) == byValue {
			return false, nil
		}
		found = []KV{{Key: r.Key}}
	}
	for _, kv := range found {
		kv.Lease = s.leases.of(kv.Key)
		order := 0
		switch c.Number(2) {
		case 0:
			order = cmp.Compare(int64(kv.Version), c.Number(4))
		case 1:
			order = cmp.Compare(int64(kv.Create), c.Number(5))
		case 2:
			order = cmp.Compare(int64(kv.Mod), c.Number(6))
		case byValue:
			value, err := kv.Value()
			if err != nil {
				return false, err
			}
			order = bytes.Compare(value, []byte(c.Text(7)))
		default:
			order = cmp.Compare(kv.Lease, c.Number(8))
		}
		// EQUAL = 0, GREATER = 1, LESS = 2, NOT_EQUAL = 3
		if ok := []bool{order == 0, order > 0, order < 0, order != 0}[c.Number(1)&3]; !ok {
			return false, nil
		}
	}
	return true, nil
}
