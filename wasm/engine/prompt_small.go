//go:build nocel

package engine

import "github.com/kubesim/kubesim/sim/scenario"

// What is typed at the prompt of a shell needs the engine with CEL, which a page loads when it is asked for such a line: with
// kubectl's words the first one would be over its budget.

func (e *Engine) completePrompt(line string) any {
	return fields{"from": len(line), "to": len(line), "items": []itemView{}, "prefix": ""}
}

func (e *Engine) paste(*request) (any, error) {
	return nil, &failure{Needs: "cel", Text: scenario.ErrTooSmall.Error()}
}
