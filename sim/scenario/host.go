package scenario

import (
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/scenario/actor"
	"github.com/kubesim/kubesim/sim/scenario/condition"
)

// host implements actor.World.
type host struct{ w *World }

// Say implements actor.World.
func (h host) Say(format string, args ...any) { h.w.say(format, args...) }

// Now implements actor.World.
func (h host) Now() time.Time { return h.w.clock.Now() }

// After implements actor.World.
func (h host) After(d time.Duration, f func()) (stop func()) {
	t := h.w.clock.AfterFunc(d, func() { h.w.due = append(h.w.due, f) })
	return func() { t.Stop() }
}

// Random implements actor.World.
func (h host) Random(purpose string) *rand.Rand {
	x := fnv.New64a()
	x.Write([]byte(purpose))
	return rand.New(rand.NewPCG(max(h.w.options.Seed, 1), x.Sum64()))
}

// Cause implements actor.World.
func (h host) Cause() uint64 { return h.w.because }

// Following implements actor.World.
func (h host) Following(frame uint64, f func()) { h.w.following(frame, f) }

// Definition implements actor.World.
func (h host) Definition(resource, client string) (*resource.Definition, error) {
	if client == "" {
		return h.w.findDefinition(resource)
	}
	return h.w.resolve(resource, max(h.w.client(client).replica, 1))
}

// nowOf returns the time on a client's clock.
func (w *World) nowOf(client string) time.Time { return w.clock.Now().Add(w.client(client).jump) }

// Scope implements actor.World.
func (h host) Scope(client string) condition.Scope {
	return condition.Scope{World: view(h), Objects: storeReader{h.w, 0}, Revision: h.w.cluster.Revision(), Now: h.w.nowOf(client)}
}

// Read implements actor.World.
func (h host) Read(r actor.Read) actor.Request {
	client := h.w.client(r.Client)
	b := &builder{w: h.w, op: &Op{Flags: []FlagValue{{Name: "all-namespaces"}}}, client: client, replica: max(client.replica, 1)}
	if r.Namespace != "" {
		b.op.Flags = []FlagValue{{"namespace", r.Namespace}}
	}
	c := b.add("GET", b.location(r.Resource, "", ""), r.Query, "", nil)
	c.def, c.sink, c.watchName, c.phrase = r.Resource, r.Sink, r.Watch, r.Phrase
	return request{h.w, c}
}

// Requests implements actor.World.
func (h host) Requests(line, client, namespace string, template func(string) (string, error)) (out actor.Line, err error) {
	op, err := Parse(strings.TrimSpace(line))
	if err != nil {
		return out, err
	}
	op.Flags = append(op.Flags, FlagValue{"as", client})
	if !op.has("namespace") && !op.has("all-namespaces") && namespace != "" {
		op.Flags = append(op.Flags, FlagValue{"namespace", namespace})
	}
	list, err := h.w.requests(&op, template)
	out.Fails, out.May = op.Fails, op.May
	for _, c := range list {
		out.Requests = append(out.Requests, request{h.w, c})
	}
	return out, err
}

// request implements actor.Request with a call.
type request struct {
	w *World
	c *call
}

// Send implements actor.Request.
func (r request) Send(done func(*actor.Answer)) {
	r.c.done = func(c *call) {
		a := &actor.Answer{Code: c.answer.Code, Body: c.body, Broken: c.exchange.Lost > 0, Query: c.query}
		if c.answer.Watch != nil {
			a.Watch = openWatch{r.w, r.w.watchNamed(c.exchange.Watch)}
		}
		done(a)
	}
	r.w.send(r.c)
}

// Forget implements actor.Request.
func (r request) Forget() { r.c.gone = true }

// openWatch implements actor.Watch.
type openWatch struct {
	w *World
	x *watch
}

// Stop implements actor.Watch.
func (o openWatch) Stop() { o.w.stop(o.x) }
