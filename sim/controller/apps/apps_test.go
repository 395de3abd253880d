package apps

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

func TestParentAndOrdinal(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, parent string
		ordinal      int64
	}{
		{"web-0", "web", 0},
		{"web-17", "web", 17},
		{"a-b-1-2", "a-b-1", 2},
		{"web--3", "web-", 3},
		{"web-007", "web", 7},
		{"web", "", -1},
		{"web-", "", -1},
		{"web-x", "", -1},
		{"web-1x", "", -1},
		{"7", "", -1},
		{"web-99999999999", "web", -1}, // exceeds int32
	} {
		is := is.New(t)
		parent, ordinal := parentAndOrdinal(test.name)
		is.Equal(fmt.Sprint(test.name, parent, ordinal), fmt.Sprint(test.name, test.parent, test.ordinal))
	}
}

// TestRevisionName compares a revision's name with that from kube-controller-manager 1.36.3 for the same template.
func TestRevisionName(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	set, err := object.Parse([]byte(`{"spec":{"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"image":"i",
		"imagePullPolicy":"Always","name":"c","resources":{},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}],
		"dnsPolicy":"ClusterFirst","restartPolicy":"Always","schedulerName":"default-scheduler","securityContext":{},
		"terminationGracePeriodSeconds":30}}}}`))
	is.NoErr(err)
	data := snapshot(set.Map("spec", "template"))
	is.Equal(revisionName("db", hashOfData(data, 0)), "db-784947b667")
	is.True(hashOfData(data, 1) != "784947b667") // the name differs after a collision
	is.Equal(len(revisionName(strings.Repeat("x", 253), "784947b667")), 234)

	revision := object.Object{"data": data}
	is.True(keeps(revision, snapshot(set.Map("spec", "template"))))
	is.True(object.Equal(map[string]any(templateOf(revision)), set.Map("spec", "template"))) // the template is restored
	is.True(!set.Has("spec", "template", "$patch"))                                          // the set is unchanged
}

// claimOwnedBy returns a claim with references to its owners.
func claimOwnedBy(refs ...string) object.Object {
	claim := object.Object{"metadata": map[string]any{"name": "data-web-0"}}
	var list []any
	for _, text := range refs {
		f := strings.Fields(text) // kind, name, UID, and whether it is a controller
		list = append(list, map[string]any{"apiVersion": map[string]string{"Pod": "v1"}[f[0]], "kind": f[0], "name": f[1], "uid": f[2], "controller": len(f) > 3})
		if f[0] != "Pod" {
			list[len(list)-1].(map[string]any)["apiVersion"] = "apps/v1"
		}
	}
	if len(list) > 0 {
		claim.Set(list, "metadata", "ownerReferences")
	}
	return claim
}

func ownersOf(claim object.Object) string {
	var all []string
	for _, ref := range claim.Objects("metadata", "ownerReferences") {
		all = append(all, ref.String("kind")+" "+ref.String("uid"))
	}
	return strings.Join(all, ", ")
}

func TestRetention(t *testing.T) {
	t.Parallel()
	set, pod := owner{"apps/v1", "StatefulSet", "web", "s"}, owner{"v1", "Pod", "web-0", "p"}
	retain := retention{set: set, pod: pod}
	toSet := retention{set: set, pod: pod, policy: true, toSet: true}
	toPod := retention{set: set, pod: pod, policy: true, toPod: true}
	for _, test := range []struct {
		name    string
		to      retention
		refs    []string
		matches bool
		after   string // the owners after apply
	}{
		{"nobody's", retain, nil, true, ""},
		{"no longer the set's", retain, []string{"StatefulSet web s controller"}, false, ""},
		{"somebody's is let alone", retain, []string{"Job j j controller"}, true, "Job j"},
		{"the set's", toSet, nil, false, "StatefulSet s"},
		{"the set's already", toSet, []string{"StatefulSet web s controller"}, true, "StatefulSet s"},
		{"the set's, but not as a controller", toSet, []string{"StatefulSet web s"}, false, "StatefulSet s"},
		{"from the set to the pod", toPod, []string{"StatefulSet web s controller"}, false, "Pod p"},
		{"beside another controller", toSet, []string{"Job j j controller", "StatefulSet web s controller"}, false, "Job j"},
		{"another controller's", toSet, []string{"Job j j controller"}, true, "Job j"},
		{"beside another owner", toSet, []string{"Job j j"}, false, "Job j, StatefulSet s"},
		{"a former set's", toSet, []string{"StatefulSet web old controller"}, true, ""},
		{"a former pod's", toPod, []string{"Pod web-0 old controller"}, true, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			claim := claimOwnedBy(test.refs...)
			is.Equal(test.to.matches(claim), test.matches)
			test.to.apply(claim)
			is.Equal(ownersOf(claim), test.after)
		})
	}
}

// TestRetentionSettles checks that a claim has its final owners after at most two steps, for any initial owners.
func TestRetentionSettles(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	draw := rand.New(rand.NewPCG(1, 2))
	refs := []string{"StatefulSet web s controller", "StatefulSet web s", "StatefulSet web old controller", "Pod web-0 p controller", "Pod web-0 p",
		"Pod web-0 old", "Job j j controller", "Job k k"}
	for range 2000 {
		to := retention{set: owner{"apps/v1", "StatefulSet", "web", "s"}, pod: owner{"v1", "Pod", "web-0", "p"}}
		switch draw.IntN(3) {
		case 0:
			to.policy, to.toSet = true, true
		case 1:
			to.policy, to.toPod = true, true
		}
		var drawn []string
		for _, i := range draw.Perm(len(refs))[:draw.IntN(4)] {
			drawn = append(drawn, refs[i])
		}
		claim := claimOwnedBy(drawn...)
		for range 2 {
			if !to.matches(claim) {
				to.apply(claim)
			}
		}
		is.True(to.matches(claim))
	}
}

func TestFailuresPause(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var f failures
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	_, ok := f.next("a", now)
	is.True(ok) // the first failed pod is deleted immediately
	wait, ok := f.next("a", now)
	is.Equal(fmt.Sprint(wait, ok), "1s false")
	for _, pause := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900} {
		wait, ok = f.next("a", now.Add(pause*time.Second-1))
		is.Equal(fmt.Sprint(wait, ok), fmt.Sprint(pause*time.Second, " false")) // before the end of the pause
		now = now.Add(pause * time.Second)
		_, ok = f.next("a", now)
		is.True(ok)
	}
	now = now.Add(31 * time.Minute)
	_, ok = f.next("b", now)
	is.True(ok)         // the pauses of different keys are independent
	is.Equal(len(f), 1) // the old failure has been dropped
}

var plain = func() *resource.Definition {
	d := &resource.Definition{Strategy: &resource.Strategy{}}
	d.Hub = d
	return d
}()

// podOf returns a pod with a revision on a node.
func podOf(name, revision, node string, ready, deleting bool) *workload.Pod {
	meta := map[string]any{"name": name, "labels": map[string]any{revisionHash: revision}}
	if deleting {
		meta["deletionTimestamp"] = "2000-01-01T00:00:00Z"
	}
	obj := object.Object{"metadata": meta, "spec": map[string]any{"nodeName": node}, "status": map[string]any{}}
	if ready {
		obj.Set([]any{map[string]any{"type": "Ready", "status": "True"}}, "status", "conditions")
	}
	return workload.PodOf(resource.NewItem(plain, obj, 1, object.JSON(obj)))
}

// TestRollInstead checks random sets of pods: no more pods are deleted than maxUnavailable allows, and no updated pod is deleted.
// Pods that are already unavailable do not count.
func TestRollInstead(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	draw := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		s := daemonSet{hash: "new", Workload: workload.Workload{Object: object.Object{"spec": map[string]any{}}}}
		var used []*place
		available := 0
		for i := range draw.IntN(8) {
			at := &place{name: fmt.Sprint(i), there: true, run: true}
			for j := range draw.IntN(3) {
				p := podOf(fmt.Sprint(i, j), []string{"old", "new"}[draw.IntN(2)], at.name, draw.IntN(2) == 0, draw.IntN(5) == 0)
				at.pods = append(at.pods, p)
			}
			if newer, older, ok := s.onNode(at); ok && (newer == nil) != (older == nil) && (newer != nil && newer.Ready || older != nil && older.Ready) {
				available++
			}
			used = append(used, at)
		}
		most := draw.IntN(4)
		gone := 0
		for _, p := range s.rollInstead(used, most) {
			is.Equal(revisionLabel(p), "old")
			is.True(!p.Deleting)
			if p.Ready {
				gone++
			}
		}
		is.True(gone == 0 || len(used)-(available-gone) <= most)
	}
}

// TestProportion checks that the shares of a Deployment's ReplicaSets during a rollout add up to the allowed number.
func TestProportion(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		is := is.New(t)
		surge, before, want := int64(draw.IntN(4)), int64(1+draw.IntN(20)), int64(draw.IntN(30))
		r := rollout{Workload: workload.Workload{Object: object.Object{"spec": map[string]any{"replicas": want}}}}
		var sets []*replicaSetOf
		left, total := before+surge, int64(0)
		for i := 0; left > 0; i++ {
			n := 1 + draw.Int64N(left)
			left -= n
			total += n
			sets = append(sets, &replicaSetOf{object.Object{"spec": map[string]any{"replicas": n},
				"metadata": map[string]any{"annotations": map[string]any{maxReplicas: fmt.Sprint(before + surge)}}}})
		}
		slices.SortStableFunc(sets, func(a, b *replicaSetOf) int { return int(b.replicas() - a.replicas()) })
		add := want + surge - total
		if want == 0 {
			add = -total
		}
		given := int64(0)
		for _, s := range sets {
			part := r.proportion(s, add, given, surge)
			is.True(part == 0 || (part > 0) == (add > 0)) // all are scaled up, or all are scaled down
			is.True(s.replicas()+part >= 0)
			exact := float64(s.replicas()) * float64(want+surge) / float64(before+surge)
			if got := float64(s.replicas() + part); want > 0 && part != 0 && given+part != add {
				is.True(got-exact <= 0.5 && exact-got <= 0.5) // rounded
			}
			given += part
		}
		is.True(given == add || (given < add) == (add > 0)) // the largest gets the rest
	}
}
