package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/kubesim/kubesim/sim/object"
)

// Semantic returns a fingerprint of the outcome: how often each object was created, changed and deleted, and the objects that exist at
// the end. each yields the objects and their keys in the order of the keys. Semantic returns "" if no hash is kept.
//
// Fields that differ between two runs with the same outcome are left out: uids, revisions, creation times and managed fields.
// Generated names and other times in objects are included.
func (t *Trace) Semantic(each func(yield func(key string, obj object.Object) bool)) string {
	if t.hash == nil {
		return ""
	}
	h := sha256.New()
	fmt.Fprintf(h, "%x %x\n", t.objects[0], t.objects[1])
	each(func(key string, obj object.Object) bool {
		dropVolatile(obj)
		fmt.Fprintf(h, "%s %s\n", key, object.JSON(obj))
		return true
	})
	return hex.EncodeToString(h.Sum(nil))
}

// dropVolatile removes the fields of obj that depend on the time and the order of writes.
func dropVolatile(obj object.Object) {
	meta, ok := obj["metadata"].(map[string]any)
	if !ok {
		return
	}
	for _, name := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields"} {
		delete(meta, name)
	}
	owners, _ := meta["ownerReferences"].([]any)
	for _, owner := range owners {
		if m, ok := owner.(map[string]any); ok {
			delete(m, "uid")
		}
	}
}
