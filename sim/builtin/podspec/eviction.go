package podspec

import (
	"strings"

	"github.com/kubesim/kubesim/sim/field"
)

const (
	maxEvictionResponders = 10
	maxResponderPriority  = 100_000
	ownResponderPriority  = 1000 // the minimum priority; Kubernetes reserves lower ones
)

// evictionResponders checks the responders to an eviction request. The type declares these rules in tags (KEP-4563, gate
// EvictionRequestAPI; core/v1.Validate_EvictionResponder).
func (r *Rules) evictionResponders() {
	if !r.at.Has("evictionResponders") {
		return
	}
	r.at.Child("evictionResponders").Declared(true, func(list field.Cursor) field.Cursor {
		if list = list.MaxItems(maxEvictionResponders); list.Updates() && !list.Changed() {
			return list
		}
		seen := field.Seen{}
		for responder := range list.Each() {
			responder.UniqueBy(seen, responder.String("name"))
		}
		for responder := range list.Each() {
			name, priority := responder.Child("name").Required(), responder.Child("priority")
			if name.Has() {
				name.InvalidIf(reservedDomain(name.String()), "domain names *.k8s.io, *.kubernetes.io are reserved")
				name.Check(prefixedLabelKey)
			}
			if !priority.RequireIf(!priority.Has(), "").Has() {
				continue
			}
			n := priority.Int64()
			priority.InvalidIf(0 <= n && n < ownResponderPriority, "priorities 0-999 are reserved for responders with *.k8s.io suffix")
			priority.Max(maxResponderPriority, "must be less than or equal to 100000").Min(0, field.TextNonNegative)
		}
		return list
	})
}

// reservedDomain reports whether the domain of a name is reserved for Kubernetes.
func reservedDomain(name string) bool {
	domain, _, _ := strings.Cut(name, "/")
	domain = "." + strings.TrimRight(strings.TrimSpace(strings.ToLower(domain)), ".")
	return strings.HasSuffix(domain, ".k8s.io") || strings.HasSuffix(domain, ".kubernetes.io")
}

// prefixedLabelKey is the rule for a label key that must have a domain prefix.
func prefixedLabelKey(key string) []string {
	if msgs := field.QualifiedName(key); len(msgs) > 0 {
		return msgs
	}
	if !strings.Contains(key, "/") {
		return []string{"must include a prefix (e.g. 'example.com/key')"}
	}
	return nil
}
