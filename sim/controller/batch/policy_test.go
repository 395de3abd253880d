package batch

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

func parse(t *testing.T, text string) object.Object {
	t.Helper()
	obj, err := object.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

func podFrom(t *testing.T, text string) *pod {
	facts := readPod(parse(t, text))
	it := &resource.Item{Namespace: "n", Name: "p"}
	return &pod{workload.Pod{Item: it, PodFacts: &facts.common}, facts, facts.tracked}
}

func TestJudge(t *testing.T) {
	policy := parse(t, `{"rules":[
		{"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget","status":"True"}]},
		{"action":"FailJob","onExitCodes":{"containerName":"main","operator":"In","values":[40,41,42]}},
		{"action":"FailIndex","onExitCodes":{"operator":"NotIn","values":[1,2]}},
		{"action":"FailJob","onPodConditions":[{"type":"ConfigIssue","status":"True"}]}]}`)
	ended := func(list, name, code string) string {
		return `{"status":{"` + list + `":[{"name":"` + name + `","state":{"terminated":{"exitCode":` + code + `}}}]}}`
	}
	tests := []struct{ name, pod, action, message string }{
		{"condition", `{"status":{"conditions":[{"type":"DisruptionTarget","status":"True"}]}}`, "Ignore", ""},
		{"code", ended("containerStatuses", "main", "42"), "FailJob", "Container main for pod n/p failed with exit code 42 matching FailJob rule at index 1"},
		{"init container", ended("initContainerStatuses", "main", "40"), "FailJob", "Container main for pod n/p failed with exit code 40 matching FailJob rule at index 1"},
		{"another container", ended("containerStatuses", "side", "42"), "FailIndex", ""},
		{"not in", ended("containerStatuses", "main", "2"), "", ""},
		{"success", ended("containerStatuses", "main", "0"), "", ""},
		{"other condition", `{"status":{"conditions":[{"type":"ConfigIssue","status":"True"}]}}`, "FailJob", "Pod n/p has condition ConfigIssue matching FailJob rule at index 3"},
		{"false", `{"status":{"conditions":[{"type":"ConfigIssue","status":"False"}]}}`, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			is.Equal(judge(policy, podFrom(t, tt.pod)), policyResult{tt.action, tt.message})
		})
	}
	is := is.New(t)
	is.Equal(judge(nil, podFrom(t, `{}`)), policyResult{}) // without a policy, the failure counts
}

func TestSucceeds(t *testing.T) {
	tests := []struct {
		name, policy, done string
		rule               int
		met                bool
	}{
		{"all of them", `{"rules":[{"succeededIndexes":"0,2-3"}]}`, "0,2-3", 0, true},
		{"not all", `{"rules":[{"succeededIndexes":"0,2-3"}]}`, "0,2", 0, false},
		{"enough of them", `{"rules":[{"succeededIndexes":"0,2-3","succeededCount":2}]}`, "0,1,3", 0, true},
		{"any", `{"rules":[{"succeededIndexes":"9"},{"succeededCount":2}]}`, "4,5", 1, true},
		{"none has", `{"rules":[{"succeededCount":0}]}`, "", 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			rule, met := succeeds(parse(t, tt.policy), 10, parseIndexes(tt.done, 10))
			is.Equal(rule, tt.rule)
			is.Equal(met, tt.met)
		})
	}
}

func TestFailures(t *testing.T) {
	is := is.New(t)
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	ended := func(seconds ...int) (pods []*pod) {
		for _, s := range seconds {
			pods = append(pods, &pod{podFacts: &podFacts{finishedAt: at(s)}})
		}
		return pods
	}
	f := failures{}.after(nil, ended(3, 1))
	is.Equal(f, failures{2, at(3)})
	is.Equal(f.after(nil, nil), f)                               // no further failure
	is.Equal(f.after(nil, ended(9)), failures{3, at(9)})         // one more failure
	is.Equal(f.after(ended(7), ended(5, 9)), failures{1, at(9)}) // only failures after the last success count
	is.Equal(f.after(ended(10), ended(9)), failures{})
	pauses := []time.Duration{0, 10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second, 320 * time.Second,
		10 * time.Minute, 10 * time.Minute}
	for n, want := range pauses {
		is.Equal(failures{n, at(0)}.pause(at(0)), want) // the pause doubles
	}
	is.Equal(failures{1, at(0)}.pause(at(7)), 3*time.Second)
	is.Equal(failures{1, at(0)}.pause(at(700)), time.Duration(0))
}

func TestFinishedAt(t *testing.T) {
	tests := []struct{ name, pod, want string }{
		{"made", `{"metadata":{"creationTimestamp":"2026-01-01T00:00:01Z"}}`, "00:00:01"},
		{"deleted", `{"metadata":{"deletionTimestamp":"2026-01-01T00:00:40Z","deletionGracePeriodSeconds":30}}`, "00:00:10"},
		{"not ready", `{"metadata":{"deletionTimestamp":"2026-01-01T00:00:40Z"},"status":{"conditions":[{"type":"Ready","status":"False","lastTransitionTime":"2026-01-01T00:00:05Z"}]}}`, "00:00:05"},
		{"containers", `{"status":{"containerStatuses":[{"state":{"terminated":{"finishedAt":"2026-01-01T00:00:07Z"}}},{"state":{"terminated":{"finishedAt":"2026-01-01T00:00:06Z"}}}]}}`, "00:00:07"},
		{"one runs", `{"metadata":{"creationTimestamp":"2026-01-01T00:00:01Z"},"status":{"containerStatuses":[{"state":{"terminated":{"finishedAt":"2026-01-01T00:00:07Z"}}},{"state":{}}]}}`, "00:00:01"},
		{"sidecar", `{"spec":{"initContainers":[{"name":"s","restartPolicy":"Always"},{"name":"i"}]},"status":{"containerStatuses":[{"state":{"terminated":{"finishedAt":"2026-01-01T00:00:07Z"}}}],
			"initContainerStatuses":[{"name":"s","state":{"terminated":{"finishedAt":"2026-01-01T00:00:09Z"}}},{"name":"i","state":{}}]}}`, "00:00:09"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			is.Equal(finishedAt(parse(t, tt.pod)).Format(time.TimeOnly), tt.want)
		})
	}
}

func TestIndexPrefix(t *testing.T) {
	is := is.New(t)
	is.Equal(indexPrefix("work", "12"), "work-12-")
	long := "a123456789b123456789c123456789d123456789e123456789f123456789"
	is.Equal(indexPrefix(long, "12"), long[:54]+"-12-") // five more characters fit in a label
}
