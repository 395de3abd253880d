package actor

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// pager reads a list page by page, one page per step. Like client-go's ListPager, it lists without a limit if the
// remaining pages have expired (410).
type pager struct {
	Source
	w   World
	def *resource.Definition

	token string
	items map[string]object.Object
	rv    string
	doing string
	done  bool
	full  bool // the pages have expired: list without a limit
	call  Request
}

// NewPager returns an actor that reads a list page by page.
func NewPager(w World, s Source) Actor { return &pager{Source: s, w: w} }

// Able implements Actor.
func (p *pager) Able() error {
	_, err := p.w.Definition(p.Resource, p.Name)
	return err
}

// Start implements Actor.
func (p *pager) Start() {
	d, err := p.w.Definition(p.Resource, p.Name)
	if err != nil {
		return
	}
	p.def, p.items, p.token, p.rv, p.done, p.full = d, map[string]object.Object{}, "", "", false, false
	p.doing = "has not begun"
}

// Crash implements Actor.
func (p *pager) Crash() {
	if p.call != nil {
		p.call.Forget()
	}
	p.call, p.items, p.done, p.doing = nil, map[string]object.Object{}, true, "crashed"
}

// IsAsleep implements Actor.
func (p *pager) IsAsleep() bool { return false }

// IsIdle implements Actor.
func (p *pager) IsIdle() bool { return true }

// State implements Actor.
func (p *pager) State() State {
	return State{Name: p.Name, Kind: "pager", Resource: p.Resource, State: p.doing,
		Synced: p.done && p.doing != "crashed", RV: p.rv, Keys: object.SortedKeys(p.items)}
}

// Objects implements condition.Reader.
func (p *pager) Objects(resource, namespace, name string) ([]object.Object, error) {
	return readCache(p.w, p.Name, "", resource, namespace, name, &reflector{def: p.def, store: p.items})
}

// Step implements Actor. It requests the next page.
func (p *pager) Step() bool {
	if p.done || p.call != nil {
		return false
	}
	q := url.Values{}
	all := map[string]string{"labelSelector": p.Labels, "fieldSelector": p.Fields, "limit": p.PageSize, "continue": p.token}
	for name, value := range all { // the order does not matter, because the query is a map, too
		if value != "" {
			q.Set(name, value)
		}
	}
	if p.full {
		q.Del("limit")
	}
	p.call = p.w.Read(Read{Client: p.Name, Resource: p.def, Namespace: p.Namespace, Query: q})
	p.call.Send(p.page)
	return true
}

func (p *pager) page(a *Answer) {
	p.call = nil
	switch {
	case gone(a.Body) && p.token != "":
		p.token, p.items, p.full = "", map[string]object.Object{}, true
		p.doing = "lost its pages and reads everything at once"
		p.w.Say("%s %s", p.Name, p.doing)
		return
	case a.Code != 200 || a.Body == nil:
		p.doing, p.done = fmt.Sprintf("failed with %d", a.Code), true
		return
	}
	for _, obj := range a.Body.Objects("items") {
		p.items[keyOf(obj)] = obj
	}
	p.rv = a.Body.ResourceVersion()
	p.token = a.Body.String("metadata", "continue")
	p.doing, p.done = fmt.Sprintf("has read %d", len(p.items)), p.token == ""
	if p.done {
		p.w.Say("%s has read all: %s", p.Name, strings.TrimSpace(keysLine(p.items)))
	}
}
