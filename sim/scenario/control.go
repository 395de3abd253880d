package scenario

import "fmt"

// carryOut runs an operation. If it returns an error, the operation had no effect.
func (w *World) carryOut(op Op) error {
	c := FindCommand(op.Name)
	if c == nil {
		return fmt.Errorf("there is no command %q%s", op.Name, meantCommand(op.Name))
	}
	return c.run(w, &op)
}

// addControlFrame adds a frame to a lane for an operation that has changed the World. replica is the affected replica, or 0 if
// there is no single one.
func (w *World) addControlFrame(op *Op, lane string, replica int) {
	w.used, w.healed = true, false
	w.add(Frame{Kind: FaultHappened, Lane: lane, Replica: replica, Text: op.String()})
}
