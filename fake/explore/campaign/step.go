package campaign

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/trouble"
)

// Step is an action that runs once, at a given time, before or after a write, or after a change of an object.
type Step struct {
	When When
	Do   Action
}

// When is the time of a step: a time since the beginning of the run, or before or after the n-th write of a client or of the test
// itself (TestItself). If Then is true, the step runs At after one of Changes, and the plan waits for the change only after
// its preceding step with Then has run.
type When struct {
	At   time.Duration // used if Client is ""
	Then bool
	// Changes are alternatives: the first of them that occurs starts the wait of At. If Changes is empty, the wait starts when the
	// preceding step with Then has run.
	Changes []Change

	Client string
	Nth    int  // the number of the client's write, counted from 1
	Before bool // when the write arrives; otherwise after the write, before the client receives the response
}

// String returns "at 1m30s", "before operator 3", "after operator 3" or "then 10s change …".
func (w When) String() string {
	switch {
	case w.Then:
		var changes []string
		for i := range w.Changes {
			changes = append(changes, w.Changes[i].String())
		}
		return strings.TrimSpace("then " + w.At.String() + " " + strings.Join(changes, " or "))
	case w.Client == "":
		return "at " + w.At.String()
	case w.Before:
		return "before " + w.Client + " " + strconv.Itoa(w.Nth)
	}
	return "after " + w.Client + " " + strconv.Itoa(w.Nth)
}

// String returns the text form of the step, which ParseStep accepts.
func (s Step) String() string { return s.When.String() + " do " + s.Do.String() }

// simpler returns steps with a simpler action or an earlier time, the most promising first.
func (s Step) simpler() (list []Step) {
	for _, do := range s.Do.simpler() {
		list = append(list, Step{s.When, do})
	}
	for _, when := range s.When.simpler() {
		list = append(list, Step{when, s.Do})
	}
	return list
}

// ParseStep parses a step in the format of String. It returns an error for any other text.
func ParseStep(line string) (Step, error) {
	when, do, ok := strings.Cut(line, " do ")
	if !ok {
		return Step{}, fmt.Errorf("%q is not a step: WHEN do WHAT", line)
	}
	s := Step{}
	var err error
	if s.When, err = parseWhen(strings.Fields(when)); err != nil {
		return s, err
	}
	s.Do, err = parseAction(do)
	return s, err
}

func parseWhen(words []string) (w When, err error) {
	switch {
	case len(words) == 2 && words[0] == "at":
		if w.At, err = time.ParseDuration(words[1]); err != nil || w.At < 0 {
			return w, fmt.Errorf("%q is not a time such as 1m30s", words[1])
		}
		return w, nil
	case len(words) >= 2 && words[0] == "then":
		if w.At, err = time.ParseDuration(words[1]); err != nil || w.At < 0 {
			return w, fmt.Errorf("%q is not a time such as 1m30s", words[1])
		}
		w.Then = true
		w.Changes, err = parseChanges(strings.Join(words[2:], " "))
		return w, err
	case len(words) == 3 && (words[0] == "before" || words[0] == "after"):
		w.Client, w.Before = words[1], words[0] == "before"
		if w.Nth, err = strconv.Atoi(words[2]); err != nil || w.Nth < 1 {
			return w, fmt.Errorf("%q is not the number of a write: they are counted from 1", words[2])
		}
		return w, nil
	}
	return w, fmt.Errorf("%q: use at TIME, before CLIENT N, after CLIENT N or then TIME", strings.Join(words, " "))
}

// World is the environment of actions: a run.
type World interface {
	// Crash ends a process immediately and restarts it after down.
	Crash(name string, down time.Duration)
	// CrashStale makes a replica lag now, ends the process after the current write, and restarts it with that replica,
	// whose caches serve the older state. caught is the additional time until the replica catches up.
	CrashStale(name string, down time.Duration, replica int, caught time.Duration)
	// Replica disturbs a replica. The replica resumes after d, unless d is 0.
	Replica(t trouble.Trouble, d time.Duration)
	// Expire removes all history.
	Expire()
	// Touch changes an annotation of the object that is being written, as another client.
	Touch()
	// Depose assigns the leases of all leaders to another holder.
	Depose()
	// Edit merges a patch into an object, as another client. A rejected patch has no effect.
	Edit(resource, key, patch string)
	// Jump shifts the clock of a client's machine.
	Jump(client string, d time.Duration)
}

// Action is the action of a step. The types below implement it.
type Action interface {
	fmt.Stringer
	// Do executes the action.
	Do(World)
	name() string
	// simpler returns simpler actions, the most promising first.
	simpler() []Action
}

// Crash calls World.Crash, or World.CrashStale if Replica is not 0.
type Crash struct {
	Process string
	Down    time.Duration
	Replica int
	Caught  time.Duration
}

func (c Crash) name() string { return "crash" }

// String returns "crash NAME DOWN" or "crash NAME DOWN stale=REPLICA CAUGHT".
func (c Crash) String() string {
	text := "crash " + c.Process + " " + c.Down.String()
	if c.Replica > 0 {
		text += fmt.Sprintf(" stale=%d %v", c.Replica, c.Caught)
	}
	return text
}

// Do implements Action.
func (c Crash) Do(w World) {
	if c.Replica > 0 {
		w.CrashStale(c.Process, c.Down, c.Replica, c.Caught)
		return
	}
	w.Crash(c.Process, c.Down)
}

func (c Crash) simpler() (list []Action) {
	if c.Replica > 0 {
		list = append(list, Crash{Process: c.Process, Down: c.Down})
	}
	if d := shorter(c.Down); d < c.Down {
		list = append(list, Crash{c.Process, d, c.Replica, c.Caught})
	}
	if d := shorter(c.Caught); d < c.Caught {
		list = append(list, Crash{c.Process, c.Down, c.Replica, d})
	}
	return list
}

// Replica calls World.Replica.
type Replica struct {
	Kind     *trouble.Kind // one of resumable, or trouble.Restart or trouble.Resume
	N        int
	For      time.Duration // the duration; 0 for trouble.Restart and trouble.Resume
	Resource string        // if "", all resources
}

// resumable lists the kinds of trouble that end when the replica resumes.
var resumable = []*trouble.Kind{trouble.Lag, trouble.Cut}

func (r Replica) name() string { return r.Kind.Name }

// String returns the text form, such as "lag 2 30s pods", "cut 2 30s" or "restart 2".
func (r Replica) String() string {
	text := r.Kind.Name + " " + strconv.Itoa(r.N)
	if slices.Contains(resumable, r.Kind) {
		text += " " + r.For.String()
	}
	if r.Kind.Resources {
		text = strings.TrimSpace(text + " " + r.Resource)
	}
	return text
}

// Do implements Action.
func (r Replica) Do(w World) {
	t := trouble.Trouble{Kind: r.Kind, Replica: r.N}
	if r.Resource != "" {
		t.Resources = []string{r.Resource}
	}
	w.Replica(t, r.For)
}

func (r Replica) simpler() (list []Action) {
	if d := shorter(r.For); d < r.For {
		list = append(list, Replica{r.Kind, r.N, d, r.Resource})
	}
	return list
}

// plain is an action without arguments.
type plain struct {
	word string
	do   func(World)
}

func (p plain) name() string      { return p.word }
func (p plain) simpler() []Action { return nil }

// String returns the word.
func (p plain) String() string { return p.word }

// Do implements Action.
func (p plain) Do(w World) { p.do(w) }

// The actions without arguments.
var (
	Expire Action = plain{"expire", World.Expire}
	Touch  Action = plain{"touch", World.Touch}
	Depose Action = plain{"depose", World.Depose}
)

// Edit calls World.Edit.
type Edit struct{ Resource, Key, Patch string }

func (e Edit) name() string { return "edit" }

// String returns the text form, such as edit sites.web.example.com default/blog {"spec":…}.
func (e Edit) String() string { return "edit " + e.Resource + " " + e.Key + " " + e.Patch }

// Do implements Action.
func (e Edit) Do(w World) { w.Edit(e.Resource, e.Key, e.Patch) }

// Jump calls World.Jump.
type Jump struct {
	Client string
	By     time.Duration
}

func (j Jump) name() string { return "jump" }

// String returns the text form, such as "jump operator 1h0m0s".
func (j Jump) String() string { return "jump " + j.Client + " " + j.By.String() }

// Do implements Action.
func (j Jump) Do(w World) { w.Jump(j.Client, j.By) }

func (j Jump) simpler() []Action {
	if j.By <= time.Second && j.By >= -time.Second {
		return nil
	}
	return []Action{Jump{j.Client, (j.By / 2).Truncate(time.Second)}}
}

// shorter returns about half of d, in whole seconds and at least one second. It returns d if d is at most one second.
func shorter(d time.Duration) time.Duration {
	if d <= time.Second {
		return d
	}
	return max((d / 2).Truncate(time.Second), time.Second)
}

var errAction = fmt.Errorf("the action must be crash, %s, %s, %s, %s, expire, touch, depose, edit or jump, with its arguments",
	trouble.Lag.Name, trouble.Cut.Name, trouble.Resume.Name, trouble.Restart.Name)

// parseAction parses the text form of an Action.
func parseAction(text string) (Action, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return nil, errAction
	}
	duration := func(i int) time.Duration {
		if i >= len(words) {
			return 0
		}
		d, _ := time.ParseDuration(words[i]) // on error d is 0, which is formatted differently and so rejected below
		return d
	}
	word := func(i int) string {
		if i >= len(words) {
			return ""
		}
		return words[i]
	}
	number := func(text string) int { n, _ := strconv.Atoi(text); return n }
	var a Action
	switch words[0] {
	case "crash":
		a = Crash{word(1), duration(2), number(strings.TrimPrefix(word(3), "stale=")), duration(4)}
	case "edit":
		_, patch, _ := strings.Cut(text, word(2)+" ")
		a = Edit{word(1), word(2), patch}
	case "jump":
		a = Jump{word(1), duration(2)}
	default:
		switch k := trouble.Find(words[0]); {
		case slices.Contains(resumable, k):
			a = Replica{k, number(word(1)), duration(2), word(3)}
		case k == trouble.Restart, k == trouble.Resume:
			a = Replica{Kind: k, N: number(word(1))}
		}
		for _, p := range []Action{Expire, Touch, Depose} {
			if p.String() == text {
				return p, nil
			}
		}
	}
	if a == nil || a.String() != text {
		return nil, fmt.Errorf("do %s: %w", text, errAction)
	}
	return a, nil
}
