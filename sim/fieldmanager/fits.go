package fieldmanager

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Fits reports whether an object is of the kind d and every value has the form that its schema gives it. Where not,
// Update cannot tell what changed: the real server then drops managedFields rather than the request. Objects of built-in
// kinds always fit; custom resources get here before they are validated, with a status or a spec that the write will not
// touch.
func (m *Manager) Fits(d *resource.Definition, obj object.Object) bool {
	if !d.Custom {
		return true
	}
	if obj.Kind() != d.Kind || obj.APIVersion() != d.GV() {
		return false
	}
	return !slices.ContainsFunc(m.model(typeOf(d), true).root.check(map[string]any(bare(obj))), func(p problem) bool {
		return !strings.HasPrefix(p.text, repeats)
	})
}
