package campaign

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/trouble"
)

// sievePlan is a test plan of Sieve (github.com/sieve-project/sieve), as JSON.
type sievePlan struct{ Actions []sieveAction }

type sieveAction struct {
	ActionType         string
	APIServerName      string
	ReconnectAPIServer string
	WaitBefore         int // seconds
	Trigger            struct {
		Definitions []sieveTrigger
		Expression  string
	}
}

type sieveTrigger struct {
	TriggerName string
	Condition   struct {
		ConditionType, ResourceKey  string
		PrevStateDiff, CurStateDiff string
		Occurrence, TimeoutValue    int
	}
}

// untilResumed is the duration of disturbances that another action ends.
const untilResumed = 24 * time.Hour

// ParseSieve converts a test plan of Sieve, in YAML, to a Plan with the same order of actions. The controller is the process with the
// given name. The server kind-control-plane is API server 1, and each other one API server 2. A paused API server does not apply any
// commits, regardless of the scope of the pause; a paused controller is one whose API server is paused. The points at which Sieve
// observes a change are all the commit.
func ParseSieve(data []byte, process string) (Plan, error) {
	text, err := codec.YAMLToJSON(data)
	if err != nil {
		return Plan{}, err
	}
	var plan sievePlan
	if err := json.Unmarshal(text, &plan); err != nil {
		return Plan{}, err
	}
	p := Plan{Seed: 1}
	for i := range plan.Actions {
		step, err := plan.Actions[i].step(process)
		if err != nil {
			return Plan{}, fmt.Errorf("action %d, %s: %w", i+1, plan.Actions[i].ActionType, err)
		}
		p.Items = append(p.Items, Item{Step: step})
	}
	return p, nil
}

// step converts an action.
func (a *sieveAction) step(process string) (s Step, err error) {
	s.When, err = a.when()
	switch server := sieveServer(a.APIServerName); a.ActionType {
	case "pauseAPIServer":
		s.Do = Replica{Kind: trouble.Lag, N: server, For: untilResumed}
	case "resumeAPIServer":
		s.Do = Replica{Kind: trouble.Resume, N: server}
	case "pauseController":
		s.Do = Replica{Kind: trouble.Lag, N: 1, For: untilResumed}
	case "resumeController":
		s.Do = Replica{Kind: trouble.Resume, N: 1}
	case "restartController":
		s.Do = Crash{Process: process, Down: time.Second}
	case "reconnectController":
		s.Do = Crash{process, time.Second, sieveServer(a.ReconnectAPIServer), untilResumed}
	default:
		err = fmt.Errorf("there is no such action in kubesim")
	}
	return s, err
}

// sieveServer returns the number of an API server.
func sieveServer(name string) int {
	if name == "kind-control-plane" {
		return 1
	}
	return 2
}

// when converts the triggers of an action. If there are several, one must be sufficient.
func (a *sieveAction) when() (When, error) {
	w := When{Then: true, At: time.Duration(a.WaitBefore) * time.Second}
	if strings.ContainsAny(a.Trigger.Expression, "&(") {
		return w, fmt.Errorf("the expression %q is not supported: use | between triggers", a.Trigger.Expression)
	}
	for i := range a.Trigger.Definitions {
		t := &a.Trigger.Definitions[i]
		if t.Condition.ConditionType == "onTimeout" {
			w.At += time.Duration(t.Condition.TimeoutValue) * time.Second
			continue
		}
		c, err := t.change()
		if err != nil {
			return w, fmt.Errorf("%s: %w", t.TriggerName, err)
		}
		w.Changes = append(w.Changes, c)
	}
	return w, nil
}

// change converts a trigger.
func (t *sieveTrigger) change() (c Change, err error) {
	kind, key, _ := strings.Cut(t.Condition.ResourceKey, "/")
	c = Change{Nth: max(t.Condition.Occurrence, 1), Kind: kind, Key: key}
	switch t.Condition.ConditionType {
	case "onObjectCreate":
		c.Verb = "create"
	case "onObjectDelete":
		c.Verb = "delete"
	case "onObjectUpdate", "onAnyFieldModification":
		c.Verb = "update"
	default:
		return c, fmt.Errorf("the condition %q is not supported", t.Condition.ConditionType)
	}
	if c.Was, err = compact([]byte(t.Condition.PrevStateDiff)); err != nil {
		return c, fmt.Errorf("prevStateDiff: %w", err)
	}
	if c.Is, err = compact([]byte(t.Condition.CurStateDiff)); err != nil {
		return c, fmt.Errorf("curStateDiff: %w", err)
	}
	return c, nil
}
