package scenario

import (
	"hash"
	"maps"
	"slices"
)

// Copy returns an independent World in the same state: the same operations have the same results in both, and those of one do not affect
// the other. It returns nil if the World has state that cannot be copied: actors, open watches, waiting requests, conditions of never and
// once, or a recording.
func (w *World) Copy() *World {
	if !w.copyable() {
		return nil
	}
	c := *w
	c.goOn(w.cluster.Fork())
	c.frames, c.print = slices.Clip(w.frames), w.print.copy()
	c.log, c.replies = slices.Clip(w.log), slices.Clip(w.replies)
	c.causes, c.commits = maps.Clone(w.causes), maps.Clone(w.commits)
	c.names, c.watches = slices.Clone(w.names), slices.Clone(w.watches)
	c.vars, c.texts = maps.Clone(w.vars), maps.Clone(w.texts)
	c.clients = make(map[string]*client, len(w.clients))
	for name, x := range w.clients {
		c.clients[name] = x.copy()
	}
	if w.shell != nil {
		c.shell = w.shell.Copy(&conn{&c}, &promptFiles{&c})
	}
	c.listenToReconciles()
	return &c
}

// copyable reports whether Copy can copy the World.
func (w *World) copyable() bool {
	open := func(x *watch) bool { return x.state == "" }
	return len(w.actors)+len(w.waiting)+len(w.answered)+len(w.due)+len(w.checks) == 0 && w.recording == nil && w.sending == nil &&
		w.current == nil && !slices.ContainsFunc(w.watches, open)
}

// copy returns an independent client with the same memory.
func (c *client) copy() *client {
	to := *c
	to.known, to.came = maps.Clone(c.known), maps.Clone(c.came)
	return &to
}

// copy returns an independent fingerprint of the same frames.
func (p *fingerprint) copy() *fingerprint {
	made, err := p.hash.(hash.Cloner).Clone()
	if err != nil {
		panic("scenario: a hash cannot be copied: " + err.Error())
	}
	return &fingerprint{hash: made, numbers: slices.Clip(p.numbers), last: p.last}
}
