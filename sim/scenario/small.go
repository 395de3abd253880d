//go:build nocel

package scenario

import (
	"net/url"

	"github.com/kubesim/kubesim/sim/resource"
)

// The first engine of a page is without what only long random work needs.

type (
	about  struct{}
	memory struct{}
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

func (*builder) recall(string, *resource.Definition, string, string, url.Values) (uint64, error) {
	return 0, ErrTooSmall
}
