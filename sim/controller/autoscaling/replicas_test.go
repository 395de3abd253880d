package autoscaling

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

func samples(values ...int64) map[string]sample {
	all := map[string]sample{}
	for i, v := range values {
		if v >= 0 {
			all[strconv.Itoa(i)] = sample{value: v}
		}
	}
	return all
}

func TestReplicas(t *testing.T) {
	tenth := tolerance{0.1, 0.1}
	half := map[string]int64{"0": 500, "1": 500, "2": 500, "3": 500}
	tests := []struct {
		name    string
		current int64
		target  target
		samples map[string]sample
		group   group
		want    int64
	}{
		{"grow", 3, target{value: 300}, samples(500, 500, 500), group{ready: 3}, 5},
		{"within tolerance", 3, target{value: 300}, samples(320, 330, 310), group{ready: 3}, 3},
		{"shrink", 3, target{value: 300}, samples(100, 100, 100), group{ready: 3}, 1},
		{"percent", 3, target{50, half}, samples(500, 500, 500), group{ready: 3}, 6},
		{"missing ones use nothing when it grows", 3, target{value: 300}, samples(600, 600, -1), group{ready: 2, missing: []string{"2"}}, 4},
		{"missing ones use the target when it shrinks", 4, target{value: 300}, samples(60, 60, 60, -1), group{ready: 3, missing: []string{"3"}}, 2},
		{"missing ones use their request when it shrinks", 4, target{80, half}, samples(50, 50, 50, -1), group{ready: 3, missing: []string{"3"}}, 2},
		{"no change of direction", 3, target{value: 300}, samples(350, -1, -1), group{ready: 1, missing: []string{"1", "2"}}, 3},
		{"unready ones use nothing when it grows", 3, target{value: 300}, samples(900, -1, -1), group{ready: 1, unready: []string{"1", "2"}}, 3},
		{"unready ones do not count when it shrinks", 3, target{value: 300}, samples(100, -1, -1), group{ready: 1, unready: []string{"1", "2"}}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			n, _, err := replicas(tt.current, tt.target, tt.samples, tt.group, tenth)
			is.NoErr(err)
			is.Equal(n, tt.want)
		})
	}
	is := is.New(t)
	_, _, err := replicas(1, target{value: 1}, samples(), group{}, tenth)
	is.Equal(err.Error(), "did not receive metrics for targeted pods (pods might be unready)")
	_, _, err = replicas(1, target{50, map[string]int64{"9": 100}}, samples(1), group{ready: 1}, tenth)
	is.Equal(err.Error(), "no metrics returned matched known pods")
}

// TestReplicasMeetTheTarget checks that, if all pods have samples, the result is the number with which each pod would meet its
// target. It also checks that the number does not grow if the usage is below the target.
func TestReplicasMeetTheTarget(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		n := 1 + random.Int64N(20)
		want := 1 + random.Int64N(1000)
		total, values := int64(0), []int64(nil)
		for range n {
			v := random.Int64N(3000)
			values, total = append(values, v), total+v
		}
		got, _, err := replicas(n, target{value: want}, samples(values...), group{ready: int(n)}, tolerance{0.1, 0.1})
		average := float64(total / n)
		expected := int64(math.Ceil(average / float64(want) * float64(n)))
		if r := average / float64(want); r >= 0.9 && r <= 1.1 {
			expected = n
		}
		if err != nil || got != expected {
			t.Fatalf("%v, target %d: got %d, want %d (%v)", values, want, got, expected, err)
		}
	}
}

func TestGroupPods(t *testing.T) {
	is := is.New(t)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	make := func(name string, f podFacts) *pod { return &pod{&resource.Item{Name: name}, &f} }
	pods := []*pod{
		make("going", podFacts{phase: "Running", deleting: true}),
		make("failed", podFacts{phase: "Failed"}),
		make("pending", podFacts{phase: "Pending"}),
		make("unmeasured", podFacts{phase: "Running"}),
		make("unknown", podFacts{phase: "Running", started: ago(time.Hour)}),
		make("starting", podFacts{phase: "Running", started: ago(time.Minute), condition: "False", readySince: ago(time.Minute)}),
		make("fresh", podFacts{phase: "Running", started: ago(time.Minute), condition: "True", readySince: ago(10 * time.Second)}),
		make("started", podFacts{phase: "Running", started: ago(time.Minute), condition: "True", readySince: ago(40 * time.Second)}),
		make("never ready", podFacts{phase: "Running", started: ago(time.Hour), condition: "False", readySince: ago(time.Hour - 20*time.Second)}),
		make("was ready", podFacts{phase: "Running", started: ago(time.Hour), condition: "False", readySince: ago(time.Minute)}),
	}
	all := map[string]sample{}
	for _, p := range pods {
		if p.Name != "unmeasured" {
			all[p.Name] = sample{value: 1, at: now, window: 30 * time.Second}
		}
	}
	g := groupPods(pods, all, "cpu", now)
	is.Equal(g.unready, []string{"pending", "unknown", "starting", "fresh", "never ready"})
	is.Equal(g.missing, []string{"unmeasured"})
	is.Equal(g.ready, 2)  // "started" and "was ready"
	is.Equal(len(all), 2) // the samples of all other pods are removed
	g = groupPods(pods[4:7], map[string]sample{"unknown": {}, "starting": {}, "fresh": {}}, "memory", now)
	is.Equal(g.ready, 3) // memory usage is meaningful from the start
}

func TestDecide(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	before := func(n int64, d time.Duration) entry { return entry{n, now.Add(-d)} }
	rules := func(text string) object.Object {
		obj, err := object.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return obj
	}
	up := rules(`{"stabilizationWindowSeconds":0,"selectPolicy":"Max","policies":[{"type":"Pods","value":4,"periodSeconds":15},{"type":"Percent","value":100,"periodSeconds":15}]}`)
	down := rules(`{"stabilizationWindowSeconds":60,"selectPolicy":"Max","policies":[{"type":"Percent","value":50,"periodSeconds":60}]}`)
	tests := []struct {
		name     string
		up, down object.Object
		history  history
		current  int64
		want     int64
		replicas int64
		reason   string
		held     bool
	}{
		{"as it is", nil, nil, history{}, 5, 5, 5, "DesiredWithinRange", false},
		{"doubled at most", nil, nil, history{}, 5, 30, 10, "ScaleUpLimit", false},
		{"four at least", nil, nil, history{}, 1, 30, 4, "ScaleUpLimit", false},
		{"not above the maximum", nil, nil, history{}, 15, 30, 20, "TooManyReplicas", false},
		{"not below the minimum", nil, nil, history{}, 5, 1, 2, "TooFewReplicas", false},
		{"held by a recent recommendation", nil, nil, history{Recommendations: []entry{before(8, 4*time.Minute), before(9, 6*time.Minute)}}, 9, 3, 8, "DesiredWithinRange", true},
		{"policies", up, down, history{}, 5, 30, 10, "ScaleUpLimit", false},
		{"what came counts", up, down, history{Ups: []entry{before(3, 10*time.Second)}}, 8, 30, 10, "ScaleUpLimit", false},
		{"what came long ago does not", up, down, history{Ups: []entry{before(3, 20*time.Second)}}, 8, 30, 16, "ScaleUpLimit", false},
		{"the least change", rules(`{"selectPolicy":"Min","policies":[{"type":"Pods","value":1,"periodSeconds":15},{"type":"Percent","value":100,"periodSeconds":15}]}`), down,
			history{}, 5, 30, 6, "ScaleUpLimit", false},
		{"disabled", rules(`{"selectPolicy":"Disabled"}`), down, history{}, 5, 30, 5, "ScaleUpLimit", false},
		{"half at most", up, down, history{}, 10, 2, 5, "ScaleDownLimit", false},
		{"held down", up, down, history{Recommendations: []entry{before(9, 50*time.Second)}}, 10, 6, 9, "DesiredWithinRange", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			h := tt.history
			d := limits{history: &h, now: now, min: 2, max: 20, current: tt.current, up: tt.up, down: tt.down}.decide(tt.want)
			is.Equal(d.replicas, tt.replicas)
			is.Equal(d.reason, tt.reason)
			is.Equal(d.held, tt.held)
			is.Equal(d.limited, d.reason != "DesiredWithinRange")
			is.Equal(h.Recommendations[len(h.Recommendations)-1].At.After(now), false)
		})
	}
}

// TestHistoryIsBounded checks that new entries replace old ones, so that a history does not grow indefinitely.
func TestHistoryIsBounded(t *testing.T) {
	is := is.New(t)
	h := history{}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range int64(1000) {
		limits{history: &h, now: now.Add(time.Duration(i) * 15 * time.Second), min: 1, max: 10, current: 5}.decide(i % 10)
	}
	is.True(len(h.Recommendations) < 25) // those of five minutes
}

func TestSetMetric(t *testing.T) {
	is := is.New(t)
	var m Metrics
	set := func(value string) error {
		return m.Set(Metric{Namespace: "n", Object: "Pod/a", Name: "cpu", Value: value})
	}
	is.NoErr(set("1"))
	is.NoErr(set("2"))
	is.Equal(len(m), 1) // it replaces the first metric
	is.NoErr(set(""))
	is.Equal(len(m), 0) // the metric is removed
	is.True(set("much") != nil)
	is.Equal(m.Set(Metric{Namespace: "n", Object: "Pod", Name: "cpu", Value: "1"}).Error(), `a metric describes KIND/NAME, not "Pod"`)
	is.Equal(m.Set(Metric{Name: "cpu", Value: "1"}).Error(), "a metric has a namespace and a name")
}
