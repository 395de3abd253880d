package dropin

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/fault"
)

// SwarmVariable is the variable with the seed of a random plan of faults: KUBESIM_SWARM=7 or KUBESIM_SWARM=7:operator.
const SwarmVariable = "KUBESIM_SWARM"

// swarmFaults is the approximate number of faults in a random plan.
const swarmFaults = 8

// Swarm returns the plan for a value of KUBESIM_SWARM: SEED, or SEED:CLIENT for faults that affect only requests whose User-Agent
// begins with CLIENT. offset is added to the seed. Without a client, the plan has no faults that make a suite's own requests fail.
// Swarm returns an error if the value has neither form.
func Swarm(value string, offset uint64) (fault.Plan, error) {
	number, client, only := strings.Cut(value, ":")
	seed, err := strconv.ParseUint(number, 10, 64)
	if err != nil || only && client == "" {
		return nil, errors.New("want a seed, such as 7, or a seed and the beginning of a User-Agent, such as 7:operator")
	}
	plan := fault.Swarm{Replicas: 1, Streams: true, Client: client}.Plan(seed+offset, swarmFaults)
	return slices.DeleteFunc(plan, func(f fault.Fault) bool {
		return f.Action().Kind == fault.Hold || // nothing would release the events
			!only && isVisible(f)
	}), nil
}

// isVisible reports whether a fault makes requests of client-go fail. A suite does not repeat its own requests, unlike a
// controller. client-go repeats a request by itself if the response has a Retry-After header.
func isVisible(f fault.Fault) bool {
	switch a := f.Action(); a.Kind {
	case fault.Fail, fault.CommitThenFail:
		return a.RetryAfter == 0
	case fault.Truncate:
		return true
	}
	return false
}

func (s *servers) setSwarm(value string) (err error) {
	s.swarm, err = Swarm(value, 0)
	return err
}

// swarmText returns the drawn plan as lines of text.
func (s *servers) swarmText() string {
	if len(s.swarm) == 0 {
		return ""
	}
	return fmt.Sprintf("kube-apiserver (kubesim): %s drew\n%s", SwarmVariable, s.swarm)
}
