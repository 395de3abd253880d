package scheduler

// terms indexes the affinity terms of the pods on existing nodes. It is updated with each pod. Pods with the same template share
// their terms, so that the pod to place is compared with each term once and not with each pod.
//
//	app=db, by zone  ─▶ zone-1: 3 pods require to be apart from such pods
//	                    zone-2: 120 is the total weight of the pods that prefer to be with such pods
type terms struct {
	all     map[string]*termUse  // terms by podTerm.text
	byLabel map[label][]*termUse // each term is in one list
}

// label is a label of a pod. The zero value stands for selectors that require no label.
type label struct{ key, value string }

// termUse counts the pods that have a term.
type termUse struct {
	podTerm
	pods   int
	apart  map[string]int64 // number of pods with a required anti-affinity, by topology value
	scores map[string]int64 // total weights of the other pods, by topology value; negative for anti-affinity
}

func newTerms() *terms {
	return &terms{map[string]*termUse{}, map[label][]*termUse{}}
}

// countNode adds the terms of all pods on a node to the counts if times is 1, and removes them if times is -1. It does nothing if
// the node does not exist.
func (x *terms) countNode(n *node, times int64) {
	for _, p := range n.affine {
		x.count(p, n, times)
	}
}

// count adds the terms of a pod on a node to the counts if times is 1, and removes them if times is -1. It does nothing if the node
// does not exist.
func (x *terms) count(p *pod, n *node, times int64) {
	if !n.exists || !p.hasAffinity() {
		return
	}
	for i := range p.apart {
		x.use(&p.apart[i], n, times, 0)
	}
	for _, list := range []struct {
		terms []podTerm
		sign  int64
	}{{p.with, 1}, {p.rather, 1}, {p.ratherNo, -1}} {
		for i := range list.terms {
			x.use(&list.terms[i], n, times, list.sign*list.terms[i].weight)
		}
	}
}

// use counts a pod's term on a node. times is 1 to add it and -1 to remove it. Weight 0 means a required anti-affinity.
func (x *terms) use(t *podTerm, n *node, times, weight int64) {
	u := x.all[t.text]
	if u == nil {
		u = &termUse{podTerm: *t, apart: map[string]int64{}, scores: map[string]int64{}}
		x.all[t.text] = u
		x.byLabel[u.label()] = append(x.byLabel[u.label()], u)
	}
	u.pods += int(times)
	if value, ok := n.labels[t.topology]; ok && weight == 0 {
		addTo(u.apart, value, times)
	} else if ok {
		addTo(u.scores, value, times*weight)
	}
	if u.pods == 0 {
		x.forget(u)
	}
}

func addTo(sums map[string]int64, value string, n int64) {
	if sums[value] += n; sums[value] == 0 {
		delete(sums, value)
	}
}

// forget removes a term that no pod has any more from the indexes.
func (x *terms) forget(u *termUse) {
	delete(x.all, u.text)
	at := u.label()
	list := x.byLabel[at]
	for i := range list {
		if list[i] == u {
			list[i] = list[len(list)-1]
			list[len(list)-1] = nil
			list = list[:len(list)-1]
			break
		}
	}
	if x.byLabel[at] = list; len(list) == 0 {
		delete(x.byLabel, at)
	}
}

// label returns the label under which the term is indexed: the last of the labels that the selected pods must have, because
// fewer terms share it than the first. It returns the zero value if there are none.
func (u *termUse) label() (at label) {
	for key, value := range u.selector.Required {
		at = label{key, value}
	}
	return at
}

// each calls f with the terms that select the pod to place, in no particular order.
func (x *terms) each(c *cycle, f func(*termUse)) {
	if len(x.all) == 0 {
		return
	}
	some := func(list []*termUse) {
		for _, u := range list {
			if u.selects(c, c.pod) {
				f(u)
			}
		}
	}
	some(x.byLabel[label{}])
	for key, value := range c.pod.labels { // order does not matter: callers add up
		some(x.byLabel[label{key, value}])
	}
}
