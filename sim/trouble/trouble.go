// Package trouble defines the disturbances of an API server or a controller, and parses and formats them. The lines of
// scenarios, the actions of faults and control requests use the same words:
//
//	lag 2 pods                      Kind, number of the replica, and the duration or the resources
//	unready 1 30s
//	lag job-controller pods         Kind, name of the controller, …
//	slow job-controller 5s
package trouble

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Replica is an API server that can be disturbed.
type Replica interface {
	Lag(resources ...string) error
	Cut()
	Resume()
	Restart()
	Unready(d time.Duration, resources ...string) error
	Stall(d time.Duration)
	CloseWatches()
}

// Controllers are the controllers that can be disturbed, by name.
type Controllers interface {
	Lag(name string, resources ...string) error
	Resume(name string) error
	Stop(name string) error
	Start(name string) error
	Crash(name string) error
	Delay(name string, d time.Duration) error
}

// Kind is a kind of disturbance. All kinds are listed in Kinds.
type Kind struct {
	Name      string
	Help      string // one sentence
	Example   string
	Duration  string // the name of the duration parameter in a control request; empty if there is none
	Resources bool   // it can be limited to some resources

	needsDuration bool
	do            func(r Replica, t Trouble) error     // nil if it does not apply to replicas
	control       func(c Controllers, t Trouble) error // nil if it does not apply to controllers
}

// All kinds of trouble.
var (
	Lag = &Kind{Name: "lag", Help: "stop commits from reaching a replica, or the informers of a controller",
		Example: "lag 2 pods", Resources: true, do: func(r Replica, t Trouble) error { return r.Lag(t.Resources...) },
		control: func(c Controllers, t Trouble) error { return c.Lag(t.Controller, t.Resources...) }}
	Cut = &Kind{Name: "cut", Help: "disconnect a replica from the store", Example: "cut 2",
		do: func(r Replica, _ Trouble) error { r.Cut(); return nil }}
	Resume = &Kind{Name: "resume", Help: "end lag and cut of a replica, or lag of a controller", Example: "resume 2",
		do:      func(r Replica, _ Trouble) error { r.Resume(); return nil },
		control: func(c Controllers, t Trouble) error { return c.Resume(t.Controller) }}
	Restart = &Kind{Name: "restart", Help: "restart a replica, whose watches end and whose caches are filled again, or a controller, which loses its state",
		Example: "restart 1", do: func(r Replica, _ Trouble) error { r.Restart(); return nil },
		control: func(c Controllers, t Trouble) error { return errors.Join(c.Crash(t.Controller), c.Start(t.Controller)) }}
	Unready = &Kind{Name: "unready", Help: "let a replica fill its watch caches again for a duration: watches end, and new ones get 429",
		Example: "unready 1 30s pods", Duration: "for", needsDuration: true, Resources: true,
		do: func(r Replica, t Trouble) error { return r.Unready(t.Duration, t.Resources...) }}
	Stall = &Kind{Name: "stall", Help: "stop the events of a replica's open watches; after the duration they break", Example: "stall 1 45s",
		Duration: "after", do: func(r Replica, t Trouble) error { r.Stall(t.Duration); return nil }}
	Close = &Kind{Name: "close", Help: "let the server end the watches of a replica", Example: "close 1",
		do: func(r Replica, _ Trouble) error { r.CloseWatches(); return nil }}
	Stop = &Kind{Name: "stop", Help: "stop a controller; its queue grows", Example: "stop job-controller",
		control: func(c Controllers, t Trouble) error { return c.Stop(t.Controller) }}
	Crash = &Kind{Name: "crash", Help: "crash a controller, which loses its state", Example: "crash job-controller",
		control: func(c Controllers, t Trouble) error { return c.Crash(t.Controller) }}
	Start = &Kind{Name: "start", Help: "start a controller that was stopped or has crashed", Example: "start job-controller",
		control: func(c Controllers, t Trouble) error { return c.Start(t.Controller) }}
	Slow = &Kind{Name: "slow", Help: "delay each reconcile of a controller; 0s ends the delay",
		Example: "slow job-controller 5s", Duration: "for", needsDuration: true,
		control: func(c Controllers, t Trouble) error { return c.Delay(t.Controller, t.Duration) }}
)

// Kinds are all kinds, in the order in which the help lists them.
var Kinds = []*Kind{Lag, Cut, Resume, Restart, Unready, Stall, Close, Stop, Crash, Start, Slow}

// Find returns the Kind with the given name, or nil.
func Find(name string) *Kind {
	for _, k := range Kinds {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// OfReplicas reports whether the kind applies to replicas.
func (k *Kind) OfReplicas() bool { return k.do != nil }

// OfControllers reports whether the kind applies to controllers.
func (k *Kind) OfControllers() bool { return k.control != nil }

// NeedsDuration reports whether the duration is required.
func (k *Kind) NeedsDuration() bool { return k.needsDuration }

// Parameter returns the name of the query parameter that a control request has in addition to the replica or
// controller, or "" if there is none.
func (k *Kind) Parameter() string {
	if k.Duration == "" && k.Resources {
		return "resource"
	}
	return k.Duration
}

// Requests returns the selected kinds as control requests, with the parameters of their examples: lag?resource=pods,
// cut.
func Requests(which func(*Kind) bool) string {
	var words []string
	for _, k := range Kinds {
		if !which(k) {
			continue
		}
		word, example := k.Name, strings.Fields(k.Example)
		if p := k.Parameter(); p != "" {
			word += "?" + p + "=" + example[2]
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// Trouble is a disturbance of one replica or one controller.
type Trouble struct {
	Kind       *Kind
	Replica    int           // counted from 1; 0 for a controller
	Controller string        // the name of the controller
	Duration   time.Duration // 0 means without end
	Resources  []string      // such as pods, deployments.apps; empty for all resources
}

// Do applies the disturbance to a replica. It returns an error if the replica does not serve a resource, and panics if
// the Kind does not apply to replicas.
func (t Trouble) Do(r Replica) error { return t.Kind.do(r, t) }

// Control applies the disturbance to a controller. It returns an error if the controller does not exist, and panics if
// the Kind does not apply to controllers.
func (t Trouble) Control(c Controllers) error { return t.Kind.control(c, t) }

// Parse parses the words after the name of a Kind: the number of a replica or the name of a controller, followed by a
// duration and resources if the Kind has them. It returns an error if a word is missing, unexpected or invalid.
func (k *Kind) Parse(words []string) (t Trouble, err error) {
	t.Kind = k
	switch {
	case len(words) == 0 && k.do == nil:
		return t, errors.New("the name of the controller is missing")
	case len(words) == 0:
		return t, errors.New("the replica is missing: they are counted from 1")
	}
	if t.Replica, err = strconv.Atoi(words[0]); err != nil || k.do == nil {
		if k.control == nil {
			return t, fmt.Errorf("%q is not the number of a replica", words[0])
		}
		t.Replica, t.Controller, err = 0, words[0], nil
	}
	words = words[1:]
	if k.Duration != "" && len(words) > 0 {
		if t.Duration, err = time.ParseDuration(words[0]); err != nil || t.Duration < 0 {
			return t, fmt.Errorf("%q is not a duration such as 45s", words[0])
		}
		words = words[1:]
	} else if k.needsDuration {
		return t, errors.New("the duration is missing, such as 45s")
	}
	if !k.Resources && len(words) > 0 {
		return t, fmt.Errorf("unexpected %q", words[0])
	}
	t.Resources = words
	return t, nil
}

// String returns the disturbance as a line that Find and Parse can parse.
func (t Trouble) String() string {
	words := []string{t.Kind.Name, t.Controller}
	if t.Controller == "" {
		words[1] = strconv.Itoa(t.Replica)
	}
	if t.Duration != 0 || t.Kind.needsDuration {
		words = append(words, t.Duration.String())
	}
	return strings.Join(append(words, t.Resources...), " ")
}
