package engine

import (
	"slices"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/scenario"
)

// past caches the world after the first n operations of a branch. While the user scrubs through the history, the page requests
// several views of the same state.
type past struct {
	run *run
	log []scenario.Op
}

// viewAfter makes the world after operation n the Engine's run, for views. It returns the previous run, which the caller has to
// restore.
func (e *Engine) viewAfter(n int) (now *run, err error) {
	now = e.run
	same := func(a, b scenario.Op) bool { return a.String() == b.String() }
	if e.past.run == nil || n < 0 || n > len(e.current.log) || !slices.EqualFunc(e.past.log, e.current.log[:n], same) {
		r, err := e.begin.replay(e.current, n)
		if err != nil {
			return nil, err
		}
		e.past = past{r, slices.Clone(e.current.log[:n])}
	}
	e.run = e.past.run
	return now, nil
}

// resultsMost is the maximum number of results that a page requests. It is also the length of the page's transcript.
const resultsMost = 400

// results returns the view of the results of the newest operations, for a page that has booted with a log.
func (e *Engine) results(*request) (any, error) {
	from := max(len(e.run.results)-resultsMost, 0)
	return fields{"from": from, "results": append([]outcome{}, e.run.results[from:]...)}, nil
}

// yaml returns the view of a response body as YAML. The request specifies any frame of the exchange.
func (e *Engine) yaml(q *request) (any, error) {
	x := e.run.world.Exchange(q.Frame)
	if x == nil {
		return nil, failed("frame %d is not about a request", q.Frame)
	}
	return fields{"text": string(codec.Body(x.ResBody, codec.Format{Media: codec.YAML}))}, nil
}
