package conformance

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Play is an action that sets the behaviour of pods.
type Play struct {
	Labels string // a=b,c=d: the labels of the pods
	As     string // the behaviour: see the package comment
}

func parsePlay(value string) (*Play, error) {
	labels, as, _ := strings.Cut(value, " ")
	p := &Play{labels, strings.TrimSpace(as)}
	word, argument, _ := strings.Cut(p.As, " ")
	switch word {
	case "ready", "unready", "pending", "hang":
		return p, nil
	case "exit", "restart":
		for code := range strings.SplitSeq(argument, ",") {
			if _, err := strconv.Atoi(code); err != nil {
				return nil, fmt.Errorf("@play %s: %w", value, err)
			}
		}
		return p, nil
	}
	return nil, fmt.Errorf("@play %s: pods can be ready, unready, pending, hang, exit CODE, restart COUNT", value)
}

// player is the scheduler and kubelet of a case: it binds pods, runs them according to a rule or their annotation
// "play", and removes deleted pods. It plays one pod at a time, so that controllers always see one change after the
// other.
type player struct {
	*life
	rules []Play
	ips   int

	scheduled bool // a scheduler binds the pods
}

// begin creates the node on which pods run, and keeps nodes alive.
func (p *player) begin() error {
	node, err := p.ask(http.MethodPost, "/api/v1/nodes", `{"metadata": {"name": "`+p.node()+`", "labels": {"case": "`+p.seen.ns+`"}}}`)
	if err != nil {
		return err
	}
	if err := p.beReady(node.(*Object)); err != nil {
		return err
	}
	p.seen.watches.Go(func() {
		for wait(p.ctx, 10*time.Second) {
			for _, node := range p.seen.there("Node") {
				_ = p.renew(node) // may fail, because a case may have deleted the node
			}
		}
	})
	return nil
}

// node returns the name of the node of the case.
func (p *player) node() string { return p.seen.ns + "-node" }

// any reports whether the player has something to do.
func (p *player) any() bool { return p.next() != nil }

// play executes the next action of the player on a node or pod. It reports whether there was one.
func (p *player) play() (bool, error) {
	do := p.next()
	if do == nil {
		return false, nil
	}
	p.seen.move()
	err := do()
	if r := (*refused)(nil); errors.As(err, &r) && (r.status == http.StatusNotFound || r.status == http.StatusConflict) {
		err = nil // the object was deleted or changed in the meantime
	}
	p.seen.move()
	return true, err
}

// next returns the next action, or nil if there is none. Nodes come first, then pods that are being deleted, then other
// pods, grouped by owner.
func (p *player) next() func() error {
	for _, node := range p.seen.there("Node") {
		if !silent(node) && condition(node, "Ready") == nil {
			return func() error { return p.beReady(node) }
		}
	}
	pods := p.seen.there("Pod")
	first := map[string]int{} // owner -> position of its first pod, counted from 1
	for i, pod := range pods {
		if owner := ownerOf(pod); first[owner] == 0 {
			first[owner] = i + 1
		}
	}
	slices.SortStableFunc(pods, func(a, b *Object) int {
		return cmp.Or(cmp.Compare(btoi(b.deleted()), btoi(a.deleted())), cmp.Compare(first[ownerOf(a)], first[ownerOf(b)]),
			strings.Compare(ordinal(a), ordinal(b)))
	})
	for _, pod := range pods {
		if do := p.nextOf(pod); do != nil {
			return do
		}
	}
	return nil
}

// nextOf returns the next action for a pod, or nil if there is none.
func (p *player) nextOf(pod *Object) func() error {
	at := pathOf(pod)
	as, argument, _ := strings.Cut(p.roleOf(pod), " ")
	phase, node := textAt(pod, "status", "phase"), textAt(pod, "spec", "nodeName")
	over := phase == "Succeeded" || phase == "Failed"
	gated := len(itemsAt(pod, "spec", "schedulingGates")) > 0
	switch ready := condition(pod, "Ready"); {
	case pod.deleted():
		grace := valueAt(pod, "metadata", "deletionGracePeriodSeconds")
		if node == "" || as == "hang" || grace == Int("0") {
			return nil
		}
		return func() error { return p.end(pod, at, over) }
	case over || gated || node == "" && (as == "pending" || p.scheduled):
		return nil
	case phase == "Pending":
		return func() error { return p.start(pod, at, node, as != "unready") }
	case as == "exit":
		return func() error { return p.exit(pod, at, code(pod, argument)) }
	case as == "restart":
		n, _ := strconv.Atoi(argument)
		if restarts(pod) == n {
			return nil
		}
		return func() error { return p.status(at, containers(pod, true, n, "")) }
	case ready != nil && (ready.Get("status") == "True") != (as != "unready"):
		return func() error { return p.status(at, readiness(pod, as != "unready")) }
	}
	return nil
}

// roleOf returns the behaviour of a pod: from the last matching rule, or else from its annotation, or else "ready".
func (p *player) roleOf(pod *Object) string {
	for _, rule := range slices.Backward(p.rules) {
		if hasLabels(pod, rule.Labels) {
			return rule.As
		}
	}
	return cmp.Or(textAt(pod, "metadata", "annotations", "play"), "ready")
}

// start binds a pod, unless it is already bound, and sets it to running.
func (p *player) start(pod *Object, at, node string, ready bool) error {
	if node == "" {
		if _, err := p.ask(http.MethodPost, at+"/binding", `{"metadata": {"name": "`+textAt(pod, "metadata", "name")+
			`"}, "target": {"kind": "Node", "name": "`+p.nodeFor(pod)+`"}}`); err != nil {
			return err
		}
	}
	p.ips++
	ip := fmt.Sprintf("10.244.%d.%d", p.ips/250, p.ips%250+1)
	return p.status(at, `"phase": "Running", "startTime": "`+now()+`", "hostIP": "172.30.0.1", "hostIPs": [{"ip": "172.30.0.1"}], "podIP": "`+
		ip+`", "podIPs": [{"ip": "`+ip+`"}], `+containers(pod, ready, 0, `"conditions": [`+conditionOf("Initialized", "True")+`, `+
		conditionOf("ContainersReady", text(ready))+`, `+conditionOf("Ready", text(ready))+`], `))
}

// nodeFor returns the node for a pod: the one in its affinity, as for a DaemonSet's pod, or else the node of the case.
func (p *player) nodeFor(pod *Object) string {
	const required = "requiredDuringSchedulingIgnoredDuringExecution"
	for _, term := range itemsAt(pod, "spec", "affinity", "nodeAffinity", required, "nodeSelectorTerms") {
		for _, field := range itemsAt(term, "matchFields") {
			for _, value := range itemsAt(field, "values") {
				return value.(string)
			}
		}
	}
	return p.node()
}

// exit reports that the containers of a pod have terminated with the exit code.
func (p *player) exit(pod *Object, at string, code int) error {
	phase, reason := "Succeeded", "Completed"
	if code != 0 {
		phase, reason = "Failed", "Error"
	}
	states := make([]string, 0, 1)
	for _, name := range containerNames(pod) {
		states = append(states, fmt.Sprintf(`{"name": %q, "image": "i", "imageID": "i", "ready": false, "started": false, "restartCount": %d, `+
			`"state": {"terminated": {"exitCode": %d, "reason": %q, "startedAt": %q, "finishedAt": %[5]q}}}`, name, restarts(pod), code, reason, now()))
	}
	return p.status(at, `"phase": "`+phase+`", "containerStatuses": [`+strings.Join(states, ", ")+`], "conditions": [`+
		conditionOf("ContainersReady", "False")+`, `+conditionOf("Ready", "False")+`]`)
}

// end terminates the containers of a deleted pod and removes the pod.
func (p *player) end(pod *Object, at string, over bool) error {
	if !over && textAt(pod, "status", "phase") == "Running" {
		if err := p.exit(pod, at, 137); err != nil {
			return err
		}
	}
	_, err := p.ask(http.MethodDelete, at, `{"gracePeriodSeconds": 0, "preconditions": {"uid": "`+textAt(pod, "metadata", "uid")+`"}}`)
	return err
}

// status patches the status of the object at the path at with the given members.
func (p *player) status(at, members string) error {
	_, err := p.ask(http.MethodPatch, at+"/status", `{"status": {`+members+`}}`)
	return err
}

// beReady makes a node Ready and creates its lease.
func (p *player) beReady(node *Object) error {
	name := textAt(node, "metadata", "name")
	_, err := p.ask(http.MethodPost, "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", `{"metadata": {"name": "`+name+
		`"}, "spec": {"holderIdentity": "`+name+`", "leaseDurationSeconds": 40, "renewTime": "`+now()+`"}}`)
	if r := (*refused)(nil); err != nil && !(errors.As(err, &r) && r.status == http.StatusConflict) {
		return err
	}
	amount := `{"cpu": "8", "memory": "16Gi", "pods": "110"}`
	return p.status("/api/v1/nodes/"+name, `"capacity": `+amount+`, "allocatable": `+amount+`, "conditions": [`+conditionOf("Ready", "True")+`]`)
}

// renew renews the lease of a node, unless the node is silent.
func (p *player) renew(node *Object) error {
	if silent(node) {
		return nil
	}
	_, err := p.ask(http.MethodPatch, "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/"+textAt(node, "metadata", "name"),
		`{"spec": {"renewTime": "`+now()+`"}}`)
	return err
}
