package mvcc

import "strings"

// listMax is the largest length of a cached list, and listsMax the largest number of cached lists.
const listMax, listsMax = 100, 1000

// List returns the current KVs of the keys that begin with a prefix, in ascending byte order. The caller must not change the slice.
//
// A short list of a prefix that ends in a slash is cached until one of its keys is written: most lists that an API server reads at
// each write (policies, webhooks, quotas, classes) are almost always empty, and rarely change.
func (s *Store) List(of []byte) []*KV {
	list, known := s.lists[string(of)]
	if known {
		return list
	}
	prefix := string(of)
	s.head.ranged(prefix, "", func(kv *KV) bool {
		list = append(list, kv)
		return true
	})
	if len(list) <= listMax && strings.HasSuffix(prefix, "/") {
		if s.lists == nil || len(s.lists) == listsMax {
			s.lists = map[string][]*KV{}
		}
		s.lists[prefix] = list
	}
	return list
}

// wrote forgets the lists that a key is in, or would be.
func (s *Store) wrote(key string) {
	for i := range len(key) {
		if key[i] == '/' {
			delete(s.lists, key[:i+1])
		}
	}
}
