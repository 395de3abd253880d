package server

import (
	"encoding/json"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
)

// Recorded returns a state with only the given progress: the ongoing deletions of definitions, by name, and the time of the next
// check of flow schemas, which is zero if there is none.
func Recorded(cleaning map[string]Cleanup, ensure time.Time) *controller.State {
	s := &controller.State{Resync: []string{addresses, parents}}
	if !ensure.IsZero() {
		s.Waiting = append(s.Waiting, controller.Waiting{Item: controller.Item{Controller: ensuring}, At: ensure})
		s.Loops = append(s.Loops, controller.LoopState{Name: ensuring, Memory: printed(ensured{ensure})})
	}
	for _, name := range object.SortedKeys(cleaning) {
		item := controller.Item{Controller: finalizing, Key: controller.Key{Name: name}}
		s.Waiting = append(s.Waiting, controller.Waiting{Item: item, At: cleaning[name].Next})
	}
	if len(cleaning) > 0 {
		s.Loops = append(s.Loops, controller.LoopState{Name: finalizing, Memory: printed(cleaning)})
	}
	return s
}

// Rewound returns the state of controllers at a time of the past from which nothing else is known. flows reports whether flow
// schemas have to be maintained.
func Rewound(now time.Time, flows bool) *controller.State {
	ensure := time.Time{}
	if flows {
		ensure = now.Add(EnsureInterval) // in case that something is to be put back
	}
	s := Recorded(nil, ensure)
	s.Resync = append(s.Resync, ofDefinitions...)
	return s
}

// Restarted returns the state of controllers that have just started, after a time in which none ran.
func Restarted(now time.Time, flows bool) *controller.State {
	s := &controller.State{Resync: append([]string{services, addresses}, ofDefinitions...)}
	if flows {
		s.Ready = []controller.Item{{Controller: ensuring}}
		s.Loops = []controller.LoopState{{Name: ensuring, Memory: printed(ensured{now})}}
		s.Resync = append(s.Resync, Authentication)
	}
	return s
}

func printed(memory any) json.RawMessage {
	text, err := json.Marshal(memory)
	if err != nil {
		panic("server: a memory cannot be printed: " + err.Error())
	}
	return text
}
