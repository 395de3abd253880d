// Package trouble lists what can be done to an API server of several, and reads and prints it. A scenario's line, a fault's
// action and a control request say it in the same words:
//
//	lag 2 pods          Kind, number of the replica, and how long or for which resources
//	unready 1 30s
//	stall 1 45s
package trouble

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Replica is an API server to which it is done.
type Replica interface {
	Lag(resources ...string) error
	Cut()
	Resume()
	Restart()
	Unready(d time.Duration, resources ...string) error
	Stall(d time.Duration)
	CloseWatches()
}

// Kind is one thing that can be done. There are those of Kinds and no others.
type Kind struct {
	Name      string
	Help      string // one sentence
	Example   string
	Duration  string // what a control request calls how long; "": it is not asked
	Resources bool   // it may be for some resources only

	needsDuration bool
	do            func(r Replica, t Trouble) error
}

// What can be done.
var (
	Lag = &Kind{Name: "lag", Help: "stop a replica from learning of commits", Example: "lag 2 pods", Resources: true,
		do: func(r Replica, t Trouble) error { return r.Lag(t.Resources...) }}
	Cut = &Kind{Name: "cut", Help: "take the store out of a replica's reach", Example: "cut 2",
		do: func(r Replica, _ Trouble) error { r.Cut(); return nil }}
	Resume = &Kind{Name: "resume", Help: "end lag and cut of a replica", Example: "resume 2",
		do: func(r Replica, _ Trouble) error { r.Resume(); return nil }}
	Restart = &Kind{Name: "restart", Help: "restart a replica: its watches end, its caches are filled anew", Example: "restart 1",
		do: func(r Replica, _ Trouble) error { r.Restart(); return nil }}
	Unready = &Kind{Name: "unready", Help: "let a replica fill its watch caches anew for so long: watches end, and begin with 429",
		Example: "unready 1 30s pods", Duration: "for", needsDuration: true, Resources: true,
		do: func(r Replica, t Trouble) error { return r.Unready(t.Duration, t.Resources...) }}
	Stall = &Kind{Name: "stall", Help: "silence a replica's open watches; after the duration they break", Example: "stall 1 45s",
		Duration: "after", do: func(r Replica, t Trouble) error { r.Stall(t.Duration); return nil }}
	Close = &Kind{Name: "close", Help: "let the server end the watches of a replica", Example: "close 1",
		do: func(r Replica, _ Trouble) error { r.CloseWatches(); return nil }}
)

// Kinds are all of them, in the order of a help text.
var Kinds = []*Kind{Lag, Cut, Resume, Restart, Unready, Stall, Close}

// Find returns the Kind of a name, nil if there is none.
func Find(name string) *Kind {
	for _, k := range Kinds {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// NeedsDuration reports whether it has to be said how long.
func (k *Kind) NeedsDuration() bool { return k.needsDuration }

// Trouble is what is done to one replica.
type Trouble struct {
	Kind      *Kind
	Replica   int           // counted from 1
	Duration  time.Duration // 0: for ever
	Resources []string      // pods, deployments.apps; none: all
}

// Do does it.
func (t Trouble) Do(r Replica) error { return t.Kind.do(r, t) }

// Parse reads the words behind the name of a Kind: the number of a replica, a duration and resources, as far as the Kind
// knows them.
func (k *Kind) Parse(words []string) (t Trouble, err error) {
	t.Kind = k
	if len(words) == 0 {
		return t, errors.New("the replica is missing: they are counted from 1")
	}
	if t.Replica, err = strconv.Atoi(words[0]); err != nil {
		return t, err
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

// String prints it as a line that Find and Parse read.
func (t Trouble) String() string {
	words := []string{t.Kind.Name, strconv.Itoa(t.Replica)}
	if t.Duration != 0 || t.Kind.needsDuration {
		words = append(words, t.Duration.String())
	}
	return strings.Join(append(words, t.Resources...), " ")
}
