package scenario

import (
	"strings"

	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/object"
)

// plannedFaults is the maximum number of faults in a random plan.
const plannedFaults = 4

// Sweep runs a scenario under the random faults of many seeds.
type Sweep struct {
	file      *File
	resources []string
}

// NewSweep prepares a sweep. Its faults affect the resources that a run of the unchanged scenario writes.
func NewSweep(f *File) *Sweep {
	seen := map[string]bool{}
	if out, err := Run(f, RunOptions{Lenient: true}); err == nil {
		for _, frame := range out.World.Frames(0) {
			if frame.Kind == StoreCommit {
				resource, _, _ := strings.Cut(frame.Ref, " ")
				seen[resource] = true
			}
		}
	}
	return &Sweep{f, object.SortedKeys(seen)}
}

// Options returns the options for one seed. Only never and eventually count, because faults may delay the effect of a
// line.
func (s *Sweep) Options(seed uint64) RunOptions {
	return RunOptions{Seed: seed, Faults: fault.Random(seed, plannedFaults, s.resources...).String(), Lenient: true}
}

// Run runs the scenario with the Options of one seed.
func (s *Sweep) Run(seed uint64) (*Outcome, error) { return Run(s.file, s.Options(seed)) }

// Shrink returns the smallest subset of a failing seed's plan with which the same line still fails.
func (s *Sweep) Shrink(seed uint64, failure *Failure) fault.Plan {
	o := s.Options(seed)
	plan, err := fault.Parse(o.Faults)
	if err != nil {
		return nil
	}
	return fault.Shrink(plan, func(p fault.Plan) bool {
		o.Faults = p.String()
		out, err := Run(s.file, o)
		return err == nil && out.Failure != nil && out.Failure.Line == failure.Line
	})
}
