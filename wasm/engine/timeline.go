package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/scenario"
)

// laneView is a line of the timeline. It shows how much of the history a replica, a watch, a controller or a client has seen.
type laneView struct {
	ID       string `json:"id"`
	Kind     string `json:"kind"`
	Label    string `json:"label"`
	Horizon  string `json:"horizon"`        // newest revision up to which it has seen everything
	From     string `json:"from,omitempty"` // first revision that it has seen
	State    string `json:"state,omitempty"`
	Replica  int    `json:"replica,omitempty"`
	Resource string `json:"resource,omitempty"`
}

// bracketView is a continue token on the timeline: a list that is pinned to one revision.
type bracketView struct {
	ID      string `json:"id"`
	Label   string `json:"label"`
	Rev     string `json:"rv"`
	Start   string `json:"start"`
	From    uint64 `json:"from"`         // frame of the response that contained it
	To      uint64 `json:"to,omitempty"` // frame of the request that first used it
	Expired bool   `json:"expired"`
	Replica int    `json:"replica"`
	Token   string `json:"token"`
}

// timeline returns the view of the progress of the store, the replicas, the watches, the controllers and the clients. The page
// marks the frames on it.
func (e *Engine) timeline(*request) (any, error) {
	w := e.run.world
	rev := formatRev(w.Cluster().Revision())
	compacted := w.Cluster().Compacted()
	lanes := []laneView{{ID: "store", Kind: "store", Label: "store", Horizon: rev, From: formatRev(compacted)}}
	for i := 1; i <= w.Cluster().Replicas(); i++ {
		s := w.Cluster().Replica(i).State()
		lane := laneView{ID: fmt.Sprintf("replica/%d", i), Kind: "replica",
			Label: fmt.Sprintf("API server %d, %s", i, s.Version), Horizon: formatRev(s.Revision), Replica: i}
		switch {
		case s.Cut:
			lane.State = "cut"
		case len(s.Lagging) > 0:
			lane.State = "lagging"
		}
		lanes = append(lanes, lane)
	}
	lanes = append(append(lanes, e.watchLanes()...), e.controllerLanes()...)
	for _, c := range w.Clients() {
		lane := laneView{ID: "client/" + c.Name, Kind: "client", Label: c.Name, Horizon: c.RV, Replica: c.Replica}
		if c.Held {
			lane.State = "held"
		}
		lanes = append(lanes, lane)
	}
	return fields{"lanes": lanes, "compacted": formatRev(compacted), "tokens": e.brackets(),
		"now": w.Now().UnixMilli(), "next": e.nextTimer(), "rv": rev}, nil
}

func (e *Engine) watchLanes() []laneView {
	var lanes []laneView
	for _, s := range e.run.world.Watches() {
		lane := laneView{ID: "watch/" + s.Name, Kind: "watch", Label: "watch " + s.Name + ": " + s.Resource,
			Horizon: s.RV, Replica: s.Replica, Resource: s.Resource}
		if !s.Open {
			lane.State = "closed"
		}
		lanes = append(lanes, lane)
	}
	return lanes
}

// ledger contains the continue tokens that clients have received. seen is the last frame that was searched for them.
type ledger struct {
	seen   uint64
	tokens []bracketView
	at     map[string]int // index by token
	given  []*scenario.Exchange
}

// brackets returns the continue tokens that clients have received.
func (e *Engine) brackets() []bracketView {
	l := &e.run.ledger
	for _, f := range e.run.world.Frames(l.seen) {
		l.seen = f.N
		if f.Exchange != nil {
			l.add(&f)
		}
	}
	out := make([]bracketView, len(l.tokens))
	for i, b := range l.tokens {
		b.Expired = e.expired(b.Rev, l.given[i])
		out[i] = b
	}
	return out
}

// add records the use of a token by a request, or the token that a response contains.
func (l *ledger) add(f *scenario.Frame) {
	x := f.Exchange
	if f.Kind == scenario.HTTPRequest {
		if i, ok := l.at[queryOf(x.Path, "continue")]; ok && l.tokens[i].To == 0 {
			l.tokens[i].To = f.N
		}
		return
	}
	token := continueOf(x.ResBody)
	if _, known := l.at[token]; known || token == "" {
		return
	}
	v, err := openToken(token, 0)
	if err != nil {
		return
	}
	if l.at == nil {
		l.at = map[string]int{}
	}
	l.at[token] = len(l.tokens)
	l.given = append(l.given, x)
	l.tokens = append(l.tokens, bracketView{ID: "token/" + strconv.FormatUint(f.N, 10),
		Label: x.Client + " after " + v.Start, Rev: v.Rev, Start: v.Start, From: f.N, Replica: x.Replica, Token: token})
}

// expired reports whether a list at a revision can no longer be continued, because neither the store nor the watch cache of the API
// server that began it has the revision.
func (e *Engine) expired(rev string, x *scenario.Exchange) bool {
	n, err := strconv.ParseUint(rev, 10, 64)
	if err != nil || n >= e.run.world.Cluster().Compacted() {
		return false // a token with revision -1 never expires
	}
	server := e.server(max(x.Replica, 1))
	path, _, _ := strings.Cut(x.Path, "?")
	for _, d := range server.Table.All() {
		if strings.HasPrefix(path, d.Root()+"/") && strings.HasSuffix(path, "/"+d.Resource) {
			return server.Registry.Backend.Cache(d.Hub).Snapshot(n) == nil
		}
	}
	return true
}

// continueOf returns the metadata.continue of a body, or "".
func continueOf(body []byte) string {
	if !bytes.Contains(body, []byte(`"continue"`)) || bytes.Contains(body, []byte(`"continue":""`)) {
		return ""
	}
	var list struct {
		Metadata struct {
			Continue string `json:"continue"`
		} `json:"metadata"`
	}
	if json.Unmarshal(body, &list) != nil {
		return ""
	}
	return list.Metadata.Continue
}

// token returns the view of a continue token.
func (e *Engine) token(q *request) (any, error) {
	return openToken(q.Token, e.run.world.Cluster().Compacted())
}

// queryOf returns a query parameter of a path.
func queryOf(path, name string) string {
	_, query, _ := strings.Cut(path, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return ""
	}
	return values.Get(name)
}
