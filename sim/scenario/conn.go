package scenario

import (
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/kubectl"
	"github.com/kubesim/kubesim/sim/wire"
)

// conn implements kubectl.Conn for the prompt. It sends requests as the client "you", in whose frames they appear. Waiting advances
// the World's clock.
type conn struct{ w *World }

// Now implements kubectl.Conn.
func (c *conn) Now() time.Time { return c.w.clock.Now() }

// Sleep implements kubectl.Conn.
func (c *conn) Sleep(d time.Duration) { c.w.moveTo(c.w.clock.Now().Add(d)) }

// call returns a call for a request. The client is "you" or, if the User-Agent does not begin with kubectl because the request
// comes from curl, the client that the User-Agent names.
func (c *conn) call(r *kubectl.Request) *call {
	client := c.w.client(you)
	header := r.Header.Clone()
	if agent, _, _ := strings.Cut(header.Get("User-Agent"), "/"); agent == "kubectl" {
		header["User-Agent"] = []string{c.w.agent(you)}
	} else {
		client = c.w.client(agent)
	}
	x := &Exchange{Client: client.name, Replica: max(client.replica, 1), Method: r.Method, Path: r.Path, Header: header, Body: r.Body}
	if len(r.Query) > 0 && !c.w.options.Quiet {
		x.Path += "?" + r.Query.Encode()
	}
	return &call{exchange: x, client: client, path: r.Path, query: r.Query, silent: true}
}

// send sends a call and waits for the response.
func (c *conn) send(x *call) (*kubectl.Answer, error) {
	c.w.send(x)
	c.w.run()
	c.w.await(x)
	if x.answer == nil {
		return nil, errStill(x.exchange.Method + " " + shortPath(x.exchange.Path))
	}
	c.w.current.HTTP = x.exchange
	return &kubectl.Answer{Code: x.exchange.Code, Header: x.exchange.ResHeader, Body: x.exchange.ResBody}, nil
}

// Do implements kubectl.Conn.
func (c *conn) Do(r *kubectl.Request) (*kubectl.Answer, error) { return c.send(c.call(r)) }

// Watch implements kubectl.Conn. The clock advances until event returns false, the watch ends, or the time is over.
func (c *conn) Watch(r *kubectl.Request, patient time.Duration, event func(frame []byte) bool) (*kubectl.Answer, error) {
	w, more := c.w, true
	x := c.call(r)
	x.onFrame = func(frame []byte) { more = more && event(frame) }
	a, err := c.send(x)
	if err != nil || x.answer.Watch == nil {
		return a, err
	}
	watch := w.watchNamed(x.exchange.Watch)
	until := w.clock.Now().Add(min(patient, patience))
	for more && watch.state == "" && w.moveOn(until) {
	}
	waiting := more && watch.state == ""
	w.stop(watch)
	if waiting {
		w.moveTo(until)
	}
	if waiting && patient > patience {
		return nil, errStill("watching " + shortPath(r.Path))
	}
	return nil, nil
}

// Follow implements kubectl.Conn. The watch stays open, and event receives its events as they arrive.
func (c *conn) Follow(r *kubectl.Request, event func(frame []byte)) (*kubectl.Answer, error) {
	x := c.call(r)
	x.onFrame = event
	a, err := c.send(x)
	if err != nil || x.answer.Watch == nil {
		return a, err
	}
	c.w.current.Watch = x.exchange.Watch
	return nil, nil
}

// Exec implements kubectl.Conn.
func (c *conn) Exec(r *kubectl.Request, stdin []byte, out func(isError bool, data []byte)) (*kubectl.Answer, error) {
	w := c.w
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	x := c.call(r)
	x.talks = true
	a, err := c.send(x)
	if err != nil || x.answer.Session == nil {
		return a, err
	}
	session, lock := x.answer.Session, w.cluster.Server(x.exchange.Replica).Lock
	lock.Lock()
	session.Input(stdin)
	session.CloseInput()
	lock.Unlock()
	until := w.clock.Now().Add(patience)
	for {
		lock.Lock()
		said, ended := session.Take()
		lock.Unlock()
		for _, o := range said {
			out(o.Error, o.Data)
		}
		if ended || !w.moveOn(until) {
			break
		}
	}
	lock.Lock()
	defer lock.Unlock()
	session.End()
	if s := session.Result(); s != nil {
		return &kubectl.Answer{Code: wire.StatusOK, Body: s.JSON()}, nil
	}
	return nil, nil
}

// Forward implements kubectl.Forwarder.
func (c *conn) Forward(r *kubectl.Request, port int, request []byte) (response []byte, a *kubectl.Answer, err error) {
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	x := c.call(r)
	x.talks = true
	if a, err = c.send(x); err != nil || x.answer.Session == nil {
		return nil, a, err
	}
	lock := c.w.cluster.Server(x.exchange.Replica).Lock
	lock.Lock()
	defer lock.Unlock()
	defer x.answer.Session.End()
	to, err := x.answer.Session.Connect(port)
	if err != nil {
		return nil, nil, err
	}
	defer to.End()
	to.Input(request)
	said, _ := to.Take()
	for _, o := range said {
		response = append(response, o.Data...)
	}
	return response, nil, nil
}
