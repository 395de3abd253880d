//go:build nocel

package scenario

import (
	"net/url"
	"strings"

	"github.com/kubesim/kubesim/sim/resource"
)

// The first engine of a page is without what only long random work needs, without kubectl's words, and without OpenAPI: with
// them it would be over its budget.

type (
	about  struct{}
	memory struct{}
	shell  struct{}
)

func aboutOf(string) (a about)             { return a }
func newMemory() (m memory)                { return m }
func newRecorder(*World) (recorder, error) { return nil, ErrTooSmall }
func (*call) remember()                    {}
func (*call) saw(*Event)                   {}
func (*builder) nextPage() error           { return ErrTooSmall }
func (*World) heal(*Op) error              { return ErrTooSmall }
func (*World) fork(*Op) error              { return ErrTooSmall }
func (*World) reload(*Op) error            { return ErrTooSmall }
func (*World) typed(*Op) error             { return ErrTooSmall }

// unpublished reports whether a path is one of OpenAPI's documents.
func unpublished(path string) bool { return strings.HasPrefix(path, "/openapi/") }

func (*builder) recall(string, *resource.Definition, string, string, url.Values) (uint64, error) {
	return 0, ErrTooSmall
}
