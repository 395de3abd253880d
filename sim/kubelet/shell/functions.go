package shell

import "maps"

// Handler is a program's signal handler.
type Handler struct {
	list      list
	vars      map[string]string
	functions map[string]list
}

// Run runs a handler to its end. If the handler does not exit, the program continues.
func (h *Handler) Run(w World) *Result {
	p := &process{world: w, vars: maps.Clone(h.vars), files: maps.Clone(w.Files), functions: maps.Clone(h.functions), room: roomMax}
	if p.files == nil {
		p.files = map[string]*string{}
	}
	h.list.run(p)
	return p.result()
}

func (f *function) run(p *process) {
	if p.functions == nil {
		p.functions = map[string]list{}
	}
	p.functions[f.name] = f.body
	p.code = 0
}

// enter runs the body of a function that is called.
func (p *process) enter(body list) {
	if p.calls++; p.calls > callsMax {
		p.waits, p.stopped = true, true
	}
	body.run(p)
	p.calls--
}

// callsMax is the maximum depth of nested function calls.
const callsMax = 100
