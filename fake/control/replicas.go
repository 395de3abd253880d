package control

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/trouble"
)

// replicas adds the routes for replicas:
//
//	GET  replicas                          the state of each
//	POST replicas/{i}/lag?resource=pods    lag, cut, resume, restart, unready?for=30s, stall?after=45s, close
//	POST hold?client=UA, release?client=UA, route?client=UA&replica=2, restore?revision=N
func (p *Panel) replicas(control *http.ServeMux) {
	control.HandleFunc("GET "+Prefix+"replicas", func(w http.ResponseWriter, _ *http.Request) { p.serveReplicas(w) })
	control.HandleFunc("POST "+Prefix+"replicas/{i}/{action}", p.serveReplica)
	control.HandleFunc("POST "+Prefix+"hold", func(_ http.ResponseWriter, r *http.Request) { p.cluster.Hold(r.FormValue("client")) })
	control.HandleFunc("POST "+Prefix+"release", func(_ http.ResponseWriter, r *http.Request) { p.cluster.Release(r.FormValue("client")) })
	control.HandleFunc("POST "+Prefix+"route", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.FormValue("replica")) // 0 is not a replica
		refuse(w, "route", p.cluster.Route(r.FormValue("client"), n))
	})
	control.HandleFunc("POST "+Prefix+"restore", func(w http.ResponseWriter, r *http.Request) {
		rev, err := strconv.ParseUint(r.FormValue("revision"), 10, 64)
		if err != nil || rev == 0 {
			err = fmt.Errorf("revision=%q is not a resourceVersion", r.FormValue("revision"))
		} else {
			err = p.server.Restore(rev)
		}
		refuse(w, "restore", err)
	})
}

// refuse writes an error response if err is not nil.
func refuse(w http.ResponseWriter, subject string, err error) {
	if err != nil {
		http.Error(w, "kubesim: "+subject+": "+err.Error(), http.StatusBadRequest)
	}
}

func (p *Panel) serveReplicas(w http.ResponseWriter) {
	list := make([]sim.ReplicaState, p.cluster.Replicas())
	for i := range list {
		list[i] = p.cluster.Replica(i + 1).State()
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"replicas": list})
}

func (p *Panel) serveReplica(w http.ResponseWriter, q *http.Request) {
	n, _ := strconv.Atoi(q.PathValue("i")) // 0 is not a replica
	r := p.cluster.Replica(n)
	if r == nil {
		http.Error(w, fmt.Sprintf("kubesim: there is no replica %s: the number of replicas is %d", q.PathValue("i"), p.cluster.Replicas()), http.StatusNotFound)
		return
	}
	refuse(w, "replicas", applyTrouble(r, q))
}

// applyTrouble performs the action that a control request specifies on a replica.
func applyTrouble(r *sim.Replica, q *http.Request) error {
	t, err := parseTrouble(q, q.PathValue("i"), (*trouble.Kind).OfReplicas)
	if err != nil {
		return err
	}
	return t.Do(r)
}

// parseTrouble parses the action and its parameters in a control request. The function can reports whether an action of a kind is
// allowed.
func parseTrouble(q *http.Request, to string, can func(*trouble.Kind) bool) (t trouble.Trouble, err error) {
	k := trouble.Find(q.PathValue("action"))
	if k == nil || !can(k) {
		var names []string
		for _, k := range trouble.Kinds {
			if can(k) {
				names = append(names, k.Name)
			}
		}
		last := len(names) - 1
		return t, fmt.Errorf("the actions are %s and %s", strings.Join(names[:last], ", "), names[last])
	}
	words := []string{to}
	if d := q.FormValue(k.Duration); k.Duration != "" && d != "" {
		words = append(words, d)
	}
	if k.Resources {
		words = append(words, q.URL.Query()["resource"]...)
	}
	return k.Parse(words)
}
