//go:build js

package scheduling

import "github.com/kubesim/kubesim/sim/builtin/kind"

// groupKinds returns nil in the web page, whose servers do not have these versions of the API.
func groupKinds() []kind.Kind { return nil }
