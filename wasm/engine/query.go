package engine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// query is a request for a view of the world. View determines which of the fields are used.
type query struct {
	View      string `json:"view"`
	Resource  string `json:"resource"`
	Namespace string `json:"ns"`
	Name      string `json:"name"`
	At        string `json:"at"` // revision; the default is the newest
	From      string `json:"from"`
	To        string `json:"to"`
	Format    string `json:"format"`
	Frame     uint64 `json:"frame"`
	Token     string `json:"token"`
	Line      string `json:"line"`
	Command   string `json:"command"`
}

var views map[string]func(*Engine, *request) (any, error)

func init() {
	views = map[string]func(*Engine, *request) (any, error){
		"resources": (*Engine).resources, "table": (*Engine).table, "object": (*Engine).object,
		"owners": (*Engine).owners, "diff": (*Engine).diff, "history": (*Engine).history,
		"timeline": (*Engine).timeline, "exchange": (*Engine).exchangeAt, "token": (*Engine).token,
		"replicas": (*Engine).replicas, "clients": (*Engine).clients, "watches": (*Engine).watches,
		"faults": (*Engine).faults, "clock": (*Engine).clock, "complete": (*Engine).complete, "help": (*Engine).help,
		"export": (*Engine).export, "log": (*Engine).log, "lessons": (*Engine).lessons, "lesson": (*Engine).lessonView,
		"progress": (*Engine).progress, "broken": (*Engine).broken,
		"controllers": (*Engine).controllers, "skew": (*Engine).skew, "results": (*Engine).results, "yaml": (*Engine).yaml, "paste": (*Engine).paste,
		"rehearse": (*Engine).previewLesson, "dump": (*Engine).dump,
	}
}

// worldless are the views that do not need a world.
var worldless = []string{"lessons", "lesson", "help", "log", "paste", "rehearse", "dump"}

// query returns a view of the world. It never changes the world.
func (e *Engine) query(q *request) (fields, error) {
	view := views[q.View]
	switch {
	case view == nil:
		return nil, failed("unknown view %q; there are %s", q.View, strings.Join(object.SortedKeys(views), ", "))
	case e.run == nil && !slices.Contains(worldless, q.View):
		return nil, errNotBooted
	}
	if q.N != nil && e.run != nil && *q.N != e.current.n {
		now, err := e.viewAfter(*q.N)
		if err != nil {
			return nil, err
		}
		defer func() { e.run = now }()
	}
	data, err := view(e, q)
	if err != nil {
		return nil, err
	}
	return fields{"view": q.View, "data": data}, nil
}

// server returns the API server of a replica. It does not take the lock, because only the Engine uses its World.
func (e *Engine) server(replica int) *apiserver.Server { return e.run.world.Cluster().Server(replica) }

// revision parses a revision. It returns 0, which stands for the newest one, for "" and "0".
func (e *Engine) revision(text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	rev, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, failed("a revision is a number, not %q", text)
	}
	return rev, nil
}

// one returns an object at a revision. It returns an error if it does not exist there.
func (e *Engine) one(q *request, at string) (object.Object, error) {
	rev, err := e.revision(at)
	if err != nil {
		return nil, err
	}
	found, err := e.run.world.Objects(q.Resource, q.Namespace, q.Name, rev)
	switch {
	case err != nil:
		return nil, err
	case q.Name == "":
		return nil, failed("which object? name is missing")
	case len(found) == 0 && rev != 0:
		return nil, failed("there is no %s %s at revision %d", q.Resource, q.Name, rev)
	case len(found) == 0:
		return nil, failed("there is no %s %s", q.Resource, q.Name)
	}
	return found[0], nil
}

// definition returns the preferred version of a resource, such as "pods" or "deployments.apps". It returns an error if there is no
// such resource.
func (e *Engine) definition(name string) (*resource.Definition, error) {
	if d := definitionOf(e.server(1), name); d != nil {
		return d, nil
	}
	return nil, failed("there is no resource %q", name)
}

// each returns the view of each element of a list. The result is never nil, so that its JSON is an empty list and not null.
func each[T, V any](list []T, view func(T) V) []V {
	out := make([]V, len(list))
	for i, x := range list {
		out[i] = view(x)
	}
	return out
}
