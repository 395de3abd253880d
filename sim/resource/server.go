package resource

import (
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// Server describes an API server by the properties that determine its rules. The zero value is an old server without any feature
// gates.
type Server struct {
	Minor int // minor version: 36 is Kubernetes 1.36
	Gates Gates
}

// Gates maps the names of feature gates to whether they are enabled.
type Gates map[string]bool

// String returns the gates sorted by name, so that equal Gates have equal strings.
func (g Gates) String() string {
	var parts []string
	for _, name := range object.SortedKeys(g) {
		parts = append(parts, name+"="+strconv.FormatBool(g[name]))
	}
	return strings.Join(parts, ",")
}

// Enabled reports whether the server that handles the request has a feature gate enabled.
func (ctx *Context) Enabled(gate string) bool { return ctx.Server.Gates[gate] }

// Since reports whether the server's minor version is at least minor: 36 is Kubernetes 1.36.
func (s Server) Since(minor int) bool { return s.Minor >= minor }

// Since reports whether the minor version of the server that handles the request is at least minor.
func (ctx *Context) Since(minor int) bool { return ctx.Server.Since(minor) }
