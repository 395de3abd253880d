package engine

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/lesson"
	"github.com/kubesim/kubesim/sim/linediff"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/scenario"
)

// replicaView is an API server.
type replicaView struct {
	N       int             `json:"n"`
	Version string          `json:"version"`
	Gates   map[string]bool `json:"gates,omitempty"`
	Rev     string          `json:"rv"`
	Cut     bool            `json:"cut"`
	Lagging []string        `json:"lagging"`
	Watches int             `json:"watches"`
}

// replicas returns the view of the API servers.
func (e *Engine) replicas(*request) (any, error) {
	c := e.run.world.Cluster()
	list := []replicaView{}
	for i := 1; i <= c.Replicas(); i++ {
		s := c.Replica(i).State()
		v := replicaView{N: i, Version: s.Version, Rev: formatRev(s.Revision), Cut: s.Cut, Lagging: append([]string{}, s.Lagging...),
			Watches: s.Watches}
		list = append(list, v)
	}
	return fields{"replicas": list}, nil
}

// clientView is a client.
type clientView struct {
	Name     string     `json:"name"`
	Replica  int        `json:"replica"`
	Held     bool       `json:"held"`
	Jump     int64      `json:"jump,omitempty"` // offset of its clock in milliseconds
	Requests int        `json:"requests"`
	Rev      string     `json:"rv,omitempty"`
	Token    string     `json:"token,omitempty"`
	Actor    *actorView `json:"actor,omitempty"`
}

// actorView is the state of a client that acts on its own, such as an informer.
type actorView struct {
	Kind     string   `json:"kind"`
	Resource string   `json:"resource"`
	State    string   `json:"state"`
	Synced   bool     `json:"synced"`
	Rev      string   `json:"rv,omitempty"`
	Keys     []string `json:"keys"`
	Queue    []string `json:"queue,omitempty"`
}

// clients returns the view of the clients that have sent requests.
func (e *Engine) clients(*request) (any, error) {
	list := []clientView{}
	for _, c := range e.run.world.Clients() {
		v := clientView{Name: c.Name, Replica: c.Replica, Held: c.Held, Jump: c.Jump.Milliseconds(), Requests: c.Requests,
			Rev: c.RV, Token: c.Token}
		if a := c.Actor; a != nil {
			v.Actor = &actorView{a.Kind, a.Resource, a.State, a.Synced, a.RV, append([]string{}, a.Keys...), a.Queue}
		}
		list = append(list, v)
	}
	return fields{"clients": list}, nil
}

// watchView is a watch.
type watchView struct {
	Name     string `json:"name"`
	Client   string `json:"client"`
	Replica  int    `json:"replica"`
	Resource string `json:"resource"`
	Rev      string `json:"rv"`
	Events   int    `json:"events"`
	Open     bool   `json:"open"`
	Closed   string `json:"closed,omitempty"` // how the watch ended
	Request  uint64 `json:"request"`          // frame of the request
}

// watches returns the view of all watches, including closed ones.
func (e *Engine) watches(*request) (any, error) {
	return fields{"watches": each(e.run.world.Watches(), func(s scenario.WatchState) watchView {
		return watchView{s.Name, s.Client, s.Replica, s.Resource, s.RV, s.Events, s.Open, s.State, s.Exchange.N}
	})}, nil
}

// faultView is a fault and its state.
type faultView struct {
	Text  string `json:"text"`
	State string `json:"state,omitempty"`
}

// faults returns the view of the faults.
func (e *Engine) faults(*request) (any, error) {
	text := e.run.world.Cluster().Faults()
	list := []faultView{}
	for _, line := range linediff.Lines(text) {
		fault, state, _ := strings.Cut(line, "#")
		if fault = strings.TrimSpace(fault); fault != "" {
			list = append(list, faultView{fault, strings.TrimSpace(state)})
		}
	}
	return fields{"faults": list, "text": text}, nil
}

// clock returns the view of the current time and of the next timer.
func (e *Engine) clock(*request) (any, error) {
	return fields{"now": e.run.world.Now().UnixMilli(), "next": e.nextTimer()}, nil
}

// nextTimer returns the time of the next timer, or nil if there is none.
func (e *Engine) nextTimer() any {
	w := e.run.world
	at, ok := w.NextTimer()
	if !ok {
		return nil
	}
	return fields{"at": at.UnixMilli(), "in": at.Sub(w.Now()).Milliseconds()}
}

// exchangeAt returns the view of a request and its response. The page specifies either frame.
func (e *Engine) exchangeAt(q *request) (any, error) {
	x := e.run.world.Exchange(q.Frame)
	if x == nil {
		return nil, failed("frame %d is not about a request", q.Frame)
	}
	return e.exchange(x), nil
}

// log returns the view of everything that a share link contains.
func (e *Engine) log(*request) (any, error) {
	if e.begin == nil {
		return nil, errNotBooted
	}
	b := e.current
	out := fields{"log": append([]scenario.Op{}, b.log...), "n": b.n, "branch": b.name(),
		"seed": formatRev(e.begin.seed), "replicas": append([]replicaJSON{}, e.begin.replicas...)}
	if p := e.begin.plane; len(p.Controllers) > 0 || p.Nodes > 0 || p.Whole || p.Classes {
		out["controllers"], out["nodes"], out["whole"], out["classes"] = p.Controllers, p.Nodes, p.Whole, p.Classes
	}
	if e.begin.lesson != nil {
		out["lesson"], out["answers"] = e.begin.lesson.ID, e.attempt().answers
		if e.begin.own != "" {
			out["own"] = e.begin.own
			delete(out, "lesson")
		}
	}
	if len(e.begin.files) > 0 {
		out["files"] = e.begin.files
	}
	return out, nil
}

// export returns the view of all executed operations as a scenario file, for go test and the command kubesim.
func (e *Engine) export(*request) (any, error) {
	story := "Recorded in the playground."
	if l := e.begin.lesson; l != nil {
		story = "Recorded in the playground: " + l.Title + "."
	}
	return fields{"txtar": string(e.run.world.Export(story).Format())}, nil
}

// entryView is a lesson in the list of lessons.
type entryView struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	About   string   `json:"about"`
	Level   string   `json:"level"`
	Needs   []string `json:"needs"`
	Minutes int      `json:"minutes"`
	Steps   int      `json:"steps"`
	Engine  string   `json:"engine"`
	Fewest  int      `json:"fewest"`
}

// lessons returns the view of all lessons.
func (e *Engine) lessons(*request) (any, error) {
	all, err := lesson.All()
	if err != nil {
		return nil, err
	}
	all = slices.Clone(all)
	for i, l := range all {
		if all[i], err = e.translated(l); err != nil {
			return nil, err
		}
	}
	return fields{"levels": lesson.Levels, "lessons": each(all, func(l *lesson.Lesson) entryView {
		return entryView{l.ID, l.Title, l.About, l.Level, append([]string{}, l.Needs...), l.Minutes, len(l.Steps), l.Engine, l.Fewest}
	})}, nil
}

// stepView is a step of a lesson that has not begun. Texts and questions are part of lessonState instead, because they contain
// current values of the world.
type stepView struct {
	ID      string   `json:"id"`
	Asks    bool     `json:"asks"`
	Hints   int      `json:"hints"`
	Actions []string `json:"actions,omitempty"` // operations of other actors at the start of the step
}

// lessonView returns the view of a lesson. Without an ID it is the running one.
func (e *Engine) lessonView(q *request) (any, error) {
	var l *lesson.Lesson
	var err error
	if q.Lesson != "" {
		l, err = e.findLesson(q.Lesson)
	} else if _, err = e.session(); err == nil {
		l = e.begin.lesson
	}
	if err != nil {
		return nil, err
	}
	steps := each(l.Steps, func(s lesson.Step) stepView {
		v := stepView{ID: s.ID, Asks: s.Predict != nil, Hints: len(s.Hints)}
		for _, op := range s.Do {
			if op.Name != "let" { // let only stores a value for the texts
				v.Actions = append(v.Actions, op.String())
			}
		}
		return v
	})
	return fields{"id": l.ID, "title": l.Title, "about": l.About, "steps": steps, "files": l.Files,
		"allow": append([]string{}, l.Allow...)}, nil
}

// progress returns the view of the learner's progress in the lesson.
func (e *Engine) progress(*request) (any, error) {
	if e.run.session == nil {
		return nil, nil
	}
	return e.lessonState(), nil
}

// controllers returns the view of the control plane's controllers: their state and pending work.
func (e *Engine) controllers(*request) (out any, err error) {
	e.run.world.Cluster().Control(func(m *controller.Manager) { out = m.Report() })
	return out, nil
}

// controllerLanes returns the lanes of controllers that are disturbed. All other controllers are up to date.
func (e *Engine) controllerLanes() (lanes []laneView) {
	var all []controller.Summary
	e.run.world.Cluster().Control(func(m *controller.Manager) { all = m.Summaries() })
	for _, s := range all {
		if state := s.State(); state != "" {
			lanes = append(lanes, laneView{ID: "controller/" + s.Name, Kind: "controller", Label: s.Name, Horizon: formatRev(s.Knows), State: state})
		}
	}
	return lanes
}

// glanceView is an object in the watch cache of an API server, in that server's version.
type glanceView struct {
	Replica int    `json:"replica"`
	Version string `json:"version"`
	Known   string `json:"known"`          // newest revision of the cache
	Rev     string `json:"rv,omitempty"`   // resourceVersion of the object; empty if it does not exist
	Text    string `json:"text,omitempty"` // YAML
	Serves  bool   `json:"serves"`         // whether the server serves the resource
}

// skew returns the view of an object as two API servers return it. From and To are the numbers of the servers.
func (e *Engine) skew(q *request) (any, error) {
	var views []glanceView
	for i := 1; i <= e.run.world.Cluster().Replicas(); i++ {
		views = append(views, e.glance(i, q))
	}
	at := func(text string, usual int) *glanceView {
		n := slices.IndexFunc(views, func(v glanceView) bool { return formatRev(uint64(v.Replica)) == text })
		if n < 0 {
			n = min(usual, len(views)-1)
		}
		return &views[n]
	}
	one, other := at(q.From, 0), at(q.To, 1)
	return fields{"servers": len(views), "one": one, "other": other, "lines": diff(one.Text, other.Text)}, nil
}

// glance returns an object from a server's watch cache, as for a request with resourceVersion=0.
func (e *Engine) glance(replica int, q *request) glanceView {
	server := e.server(replica)
	v := glanceView{Replica: replica, Version: e.run.world.Cluster().Replica(replica).State().Version}
	d := definitionOf(server, q.Resource)
	if d == nil {
		return v
	}
	cache := server.Registry.Backend.Cache(d.Hub)
	v.Serves, v.Known = true, formatRev(cache.Rev())
	if kv := cache.View().Get(d.Key(q.Namespace, q.Name)); kv != nil {
		obj := resource.ItemOf(d.Hub, kv).Object()
		v.Rev, v.Text = obj.ResourceVersion(), yamlText(map[string]any(obj))
	}
	return v
}

// definitionOf returns the resource with the given name in the server's preferred version, or nil if the server does not serve it.
func definitionOf(server *apiserver.Server, name string) *resource.Definition {
	plural, group, named := strings.Cut(name, ".")
	for _, d := range server.Table.All() {
		if (d.Resource == plural || slices.Contains(d.ShortNames, plural)) && (!named || d.Group == group) {
			return d
		}
	}
	return nil
}
