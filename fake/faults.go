package fake

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/fault"
)

// Faults controls the faults of a Server.
//
//	srv.Faults.Add(fault.On("update", "widgets/status").Times(1).Conflict())
//	srv.Faults.Add(fault.On("watch", "pods").Event("DELETED").Hold())
//	…
//	srv.Faults.Release()
type Faults struct{ server *Server }

// Add appends faults to the existing ones. A fault that can never occur ends the test; without a test, Add panics.
func (f *Faults) Add(faults ...fault.Fault) {
	if err := f.server.cluster.AddFaults(faults...); err != nil {
		f.server.fail("%v", err)
	}
}

// AddText adds faults from text, one per line, in the format of String and fault.Parse. It returns an error, and adds
// none, if a line is invalid or a fault can never occur.
func (f *Faults) AddText(text string) error {
	plan, err := fault.Parse(text)
	if err == nil {
		err = f.server.cluster.AddFaults(plan...)
	}
	if err != nil {
		return fmt.Errorf("kubesim: %w", err)
	}
	return nil
}

// Clear removes all faults and delivers the events that they hold.
func (f *Faults) Clear() { f.server.cluster.ClearFaults() }

// Release delivers the watch events that Hold faults have delayed. Later events may be held again.
func (f *Faults) Release() { f.server.cluster.ReleaseFaults() }

// String returns the faults, one per line, each with its state. fault.Parse accepts the text.
func (f *Faults) String() string { return f.server.cluster.Faults() }

// Decisions returns the decisions about faults that are still in memory, oldest first.
func (f *Faults) Decisions() []fault.Decision {
	list, _ := f.server.cluster.FaultDecisions()
	return list
}
