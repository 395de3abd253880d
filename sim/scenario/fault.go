package scenario

import (
	"strings"

	"github.com/kubesim/kubesim/sim/fault"
)

// faultCommands add, clear and end faults. Package fault defines the language of faults.
var faultCommands = []Command{
	{Name: "fault", Usage: "on … do … | clear | release", Help: "add a fault",
		Example: "fault on update pods times=1 do fail Conflict", Group: Worldly, text: true, check: checkFault,
		Words: []Choice{{"on", "on … do …"}, {"clear", "remove all faults"}, {"release", "release the events that they hold"}},
		run:   (*World).fault},
	{Name: "heal", Help: "end all faults, and let a minute pass, so that delayed answers and events arrive", Example: "heal",
		Group: Worldly, run: (*World).heal},
}

func checkFault(op *Op, at int) error {
	if op.Text != "clear" && op.Text != "release" && !strings.HasPrefix(op.Text, "on ") {
		return wrong(at+1, "a fault is on VERB RESOURCE … do ACTION; there are clear and release, too")
	}
	return nil
}

// fault adds faults, or clears or releases the existing ones.
func (w *World) fault(op *Op) error {
	w.used, w.healed = true, false
	switch op.Text {
	case "clear":
		w.cluster.ClearFaults()
	case "release":
		w.cluster.ReleaseFaults()
	default:
		plan, err := fault.Parse(op.Text)
		if err != nil {
			return err
		}
		if err := w.cluster.AddFaults(plan...); err != nil {
			return err
		}
	}
	w.add(Frame{Kind: FaultHappened, Lane: "store", Text: "fault " + op.Text})
	return nil
}
