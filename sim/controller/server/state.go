package server

import (
	"encoding/json"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
)

// StateOf is the state of controllers that have nothing to do but to go on with deletions of definitions, by name, and to
// look at a time at what servers made of flow schemas; zero: not until one changes.
func StateOf(cleaning map[string]Cleanup, ensure time.Time) *controller.State {
	s := &controller.State{}
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

func printed(memory any) json.RawMessage {
	text, err := json.Marshal(memory)
	if err != nil {
		panic("server: a memory cannot be printed: " + err.Error())
	}
	return text
}
