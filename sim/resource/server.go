package resource

import (
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// Server describes an API server by the properties that its rules depend on. The zero value is an old server without any feature
// gates.
type Server struct {
	Minor int // 36 is Kubernetes 1.36
	Gates Gates
}

// Gates are feature gates by name, and whether they are enabled.
type Gates map[string]bool

// String prints the gates in order, so that equal ones print alike.
func (g Gates) String() string {
	var parts []string
	for _, name := range object.SortedKeys(g) {
		parts = append(parts, name+"="+strconv.FormatBool(g[name]))
	}
	return strings.Join(parts, ",")
}

// Enabled reports whether the server that works on the request has a feature gate enabled.
func (ctx *Context) Enabled(gate string) bool { return ctx.Server.Gates[gate] }

// Since reports whether the server is of a minor or a later one: 36 is Kubernetes 1.36.
func (s Server) Since(minor int) bool { return s.Minor >= minor }

// Since reports whether the server that works on the request is of a minor or a later one.
func (ctx *Context) Since(minor int) bool { return ctx.Server.Since(minor) }
