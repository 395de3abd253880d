package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"
)

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}
`

// A world has controllers and nodes if the page requests them, and its link and its export restore them. A link without them
// restores a world without controllers.
func TestControllers(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	pods := func(p *page) int {
		return len(at(p.must("query", "view", "table", "resource", "pods"), "data.rows").([]any))
	}
	create := map[string]any{"line": "create -f web.yaml", "files": map[string]any{"web.yaml": deployment}}
	p := newPage(t)
	p.must("boot", "seed", "1", "controllers", []string{"*"}, "nodes", 3)
	p.must("do", "op", create)
	p.must("tick", "until", "settled")
	is.Equal(pods(p), 2)
	p.do("expect deployments/web .status.readyReplicas == 2")

	data := at(p.must("query", "view", "log"), "data").(map[string]any)
	again := newPage(t)
	again.must("boot", "seed", data["seed"], "controllers", data["controllers"], "nodes", data["nodes"], "log", data["log"])
	is.Equal(again.hash(), p.hash())
	imported := newPage(t)
	imported.must("boot", "scenario", at(p.must("query", "view", "export"), "data.txtar"))
	is.Equal(pods(imported), 2)
	p.must("fork", "n", 1)
	p.must("tick", "until", "settled")
	is.Equal(p.hash(), func() string { again.must("seek", "n", 2); return again.hash() }())

	old := newPage(t)
	old.must("boot", "seed", "1", "log", data["log"].([]any)[:2])
	is.Equal(pods(old), 0)
	is.True(fault(newPage(t).send("boot", "nodes", 51), "text") != "")
	is.True(fault(newPage(t).send("boot", "controllers", []string{"nobody"}), "text") != "")
}

// TestWhole checks that a whole cluster has the objects of a new one, that RBAC decides about other users, and that its link and its
// export restore it.
func TestWhole(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	p.must("boot", "seed", "1", "controllers", []string{"*"}, "nodes", 3, "whole", true, "classes", true)
	for _, c := range [][2]string{
		{"kubectl get service kubernetes", "443/TCP"},
		{"kubectl auth can-i get pods", "yes"},
		{"kubectl auth can-i get pods --as jane || true", "no"},
		{"kubectl get clusterrole cluster-admin -o name", "clusterrole.rbac.authorization.k8s.io/cluster-admin"},
		{"create configmap a --as alice", "201 Created"},
		{"kubectl auth can-i list secrets --as=system:kube-proxy", "no"},
		{"kubectl get storageclasses,ingressclasses --no-headers", "standard (default)"},
		{"kubectl get ingressclasses -o name", "ingressclass.networking.k8s.io/kubesim"},
	} {
		if got := fmt.Sprint(at(p.do(c[0]), "result.lines")); !strings.Contains(got, c[1]) {
			t.Errorf("%s: %s", c[0], got)
		}
	}
	data := at(p.must("query", "view", "log"), "data").(map[string]any)
	is.Equal(data["whole"], true)
	is.Equal(data["classes"], true)
	text := at(p.must("query", "view", "export"), "data.txtar").(string)
	is.True(strings.Contains(text, "\nauth cluster\n"))
	is.True(strings.Contains(text, "\nclasses\n"))
	imported := newPage(t)
	imported.must("boot", "scenario", text)
	imported.do("expect services/kubernetes exists")
	imported.do("expect storageclasses/standard exists")

	old := newPage(t) // a link of free play from before there were classes
	old.must("boot", "seed", "1", "controllers", []string{"*"}, "nodes", 3, "whole", true)
	old.do("expect not storageclasses/standard exists")
}

// A reconcile is a frame on the lane of its controller. Its cause is the commit that triggered it, and it is the cause of its own
// writes. Waiting controllers reconcile one at a time.
func TestReconciles(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	p.must("boot", "seed", "1", "controllers", []string{"*"}, "nodes", 3)
	p.must("do", "op", map[string]any{"line": "create -f web.yaml", "files": map[string]any{"web.yaml": deployment}})
	find := func(lane, ref string) map[string]any {
		for _, f := range p.frames {
			if f["lane"] == lane && (ref == "" || strings.HasPrefix(f["ref"].(string), ref)) {
				return f
			}
		}
		t.Fatalf("no frame of %s %s", lane, ref)
		return nil
	}
	looks := find("controller/deployment-controller", "")
	is.Equal(looks["kind"], "reconcile")
	is.Equal(looks["cause"], find("store", "deployments.apps default/web")["n"])
	is.Equal(find("store", "replicasets.apps default/web")["cause"], looks["n"])
	is.Equal(looks["text"], fmt.Sprintf("default/web reads deployments.apps at %v, writes 4", find("store", "deployments.apps default/web")["rv"]))

	p.do("stepped yes")
	p.do("delete replicasets -l app=web")
	is.Equal(p.controller("replicaset-controller")["state"], nil)
	due := at(p.controller("deployment-controller"), "due").([]any)
	is.Equal(due[0].(map[string]any)["key"], "default/web")
	before := len(p.frames)
	p.do("step deployment-controller")
	made := p.frames[before]
	is.Equal(made["lane"], "controller/deployment-controller")
	is.True(strings.Contains(made["text"].(string), "writes "))
	p.do("stop replicaset-controller")
	is.Equal(p.frames[len(p.frames)-1]["lane"], "controller/replicaset-controller")
	is.Equal(p.controller("replicaset-controller")["state"], "stopped")
	p.do("lag deployment-controller")
	p.do("create configmap later")
	c := p.controller("deployment-controller")
	is.Equal(c["state"], "lagging")
	is.True(c["rv"] != at(p.must("query", "view", "timeline"), "data.rv"))
}

// controller returns an entry of the controllers view.
func (p *page) controller(name string) map[string]any {
	p.t.Helper()
	for _, c := range at(p.must("query", "view", "controllers"), "data.controllers").([]any) {
		if c := c.(map[string]any); c["name"] == name {
			return c
		}
	}
	p.t.Fatalf("there is no controller %s", name)
	return nil
}
