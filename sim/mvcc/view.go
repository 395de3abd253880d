package mvcc

import "strings"

// View is the store as it was at one revision. It never changes:
// it may be read while the store goes on, from any goroutine.
type View struct {
	rev   uint64
	index index
	event *Event // the commit that made this revision; nil for the one the store began with
}

// Rev returns the revision of the view.
func (v *View) Rev() uint64 { return v.rev }

// Get returns the key, nil if it is absent.
func (v *View) Get(key string) *KV {
	kv, _ := v.index.keys.Get(&KV{Key: key})
	return kv
}

// Range yields the keys that begin with prefix and are not before from, in
// ascending byte order, until yield returns false.
// The empty prefix and the empty from leave nothing out.
func (v *View) Range(prefix, from string, yield func(*KV) bool) {
	v.index.each(max(prefix, from), func(kv *KV) bool {
		return strings.HasPrefix(kv.Key, prefix) && yield(kv)
	})
}

// Count returns how many keys Range would yield.
// It visits few of them, however many they are.
func (v *View) Count(prefix, from string) int { return v.index.count(prefix, from) }
