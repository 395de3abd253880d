package selector

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// The fields that can divide objects into shards.
const (
	ShardByUID       = "object.metadata.uid"
	ShardByNamespace = "object.metadata.namespace"
)

// Shards selects objects by the FNV-1a hash of a field, which is a number of 64 bits, so that several clients can share the objects of
// a resource (KEP-5866). The zero value selects all objects.
type Shards struct {
	Field  string // ShardByUID or ShardByNamespace
	Ranges []HashRange
}

// HashRange contains the hashes from Start, up to but excluding End. Both are "0x" and 16 hexadecimal digits; End may also be 2^64,
// which has 17.
type HashRange struct{ Start, End string }

// Empty reports whether s selects all objects.
func (s Shards) Empty() bool { return len(s.Ranges) == 0 }

// Match reports whether s selects an object whose field has the value.
func (s Shards) Match(value string) bool {
	if s.Empty() {
		return true
	}
	h := fnv.New64a()
	h.Write([]byte(value))
	hash := fmt.Sprintf("0x%016x", h.Sum64())
	for _, r := range s.Ranges {
		if !HexLess(hash, r.Start) && HexLess(hash, r.End) {
			return true
		}
	}
	return false
}

// HexLess compares hexadecimal numbers that have no leading zeros beyond 16 digits: a longer number is greater.
func HexLess(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

// String returns the selector as in the query of a request.
func (s Shards) String() string {
	var parts []string
	for _, r := range s.Ranges {
		parts = append(parts, fmt.Sprintf("shardRange(%s, '%s', '%s')", s.Field, r.Start, r.End))
	}
	return strings.Join(parts, " || ")
}
