package conformance

import (
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

// TestSituationsAreAsRecordWritesThem checks that all situations have recordings in the format of Record.
func TestSituationsAreAsRecordWritesThem(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	cases, err := LifeCases()
	is.NoErr(err)
	for _, c := range cases {
		text, err := embeddedLife.ReadFile("testdata/life/" + c.ID() + ".res")
		is.NoErr(err)
		for _, s := range c.Steps {
			if c.Recorded(s.Name) == nil {
				t.Errorf("%s: %s is not recorded", c.ID(), s.Name)
			}
		}
		if string(text) != string(c.text()) {
			t.Errorf("%s.res is not as Record would write it", c.ID())
		}
	}
}

// saw returns an observer that has seen some objects, each given as JSON with an optional prefix "gone " for a deleted
// object.
func saw(t *testing.T, objects ...string) *observer {
	t.Helper()
	o := newObserver("c-abcdefgh")
	for _, text := range objects {
		gone, text := strings.HasPrefix(text, "gone "), strings.TrimPrefix(text, "gone ")
		v, err := Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		o.record(gone, v.(*Object), resourceAt{name: "x", namespaced: true})
	}
	return o
}

const (
	uidA = "aaaaaaaa-0000-4000-8000-000000000000"
	uidB = "bbbbbbbb-0000-4000-8000-000000000000"
)

// TestMask checks that an object has the same label in the whole state, and that the numbers do not depend on generated values.
func TestMask(t *testing.T) {
	t.Parallel()
	pod := func(name, uid, phase string) string {
		return `{"kind":"Pod","metadata":{"name":"` + name + `","generateName":"web-5d8-","uid":"` + uid + `","resourceVersion":"17",` +
			`"labels":{"pod-template-hash":"5d8"},"managedFields":[{"manager":"m","operation":"Update","subresource":"status"},{"manager":"m","operation":"Update","subresource":"status"}]},` +
			`"status":{"phase":"` + phase + `","podIP":"10.244.0.9","startTime":"2026-01-02T03:04:05Z"}}`
	}
	event := func(name string) *Object {
		v, err := Decode([]byte(`{"involvedObject":{"kind":"ReplicaSet","name":"web-5d8"},"reason":"R","type":"Normal","message":"Created pod: ` + name + ` ` +
			uidB + `","source":{"component":"rs"},"count":2}`))
		if err != nil {
			t.Fatal(err)
		}
		return v.(*Object)
	}
	for _, names := range [][2]string{{"web-5d8-aaaaa", "web-5d8-zzzzz"}, {"web-5d8-zzzzz", "web-5d8-aaaaa"}} {
		is := is.New(t)
		failed, gone := names[0], names[1]
		seen := saw(t, pod(failed, uidA, "Failed"), "gone "+pod(gone, uidB, "Running"))
		m := newMasker(seen)
		objects := []entry{{key: "pods/" + failed, value: m.object(seen.objects[uidA])}}
		events := []entry{{value: m.event(event(gone))}, {value: m.event(event(failed))}}
		m.name(append(objects, events...))
		text := Encode(m.print(objects, events), false)
		is.Equal(text, `{"objects": {"pods/web-<hash:1>-<2>": {"kind": "Pod", "metadata": {"generateName": "web-<hash:1>-", `+
			`"labels": {"pod-template-hash": "<hash:1>"}, "managedFields": ["m Update status"], "name": "web-<hash:1>-<2>", `+
			`"uid": "<uid Pod/web-<hash:1>-<2>>"}, "status": {"phase": "Failed", "podIP": "<ip of web-<hash:1>-<2>>", "startTime": "<time>"}}}, `+
			`"events": [{"about": "ReplicaSet/web-<hash:1>", "count": 2, "from": "rs", "message": "Created pod: web-<hash:1>-<1> `+
			`<uid of a former Pod/web-<hash:1>-<1>>", "reason": "R", "type": "Normal"}, {"about": "ReplicaSet/web-<hash:1>", "count": 2, "from": "rs", `+
			`"message": "Created pod: web-<hash:1>-<2> <uid of a former Pod/web-<hash:1>-<1>>", "reason": "R", "type": "Normal"}]}`)
	}
}

// TestNextPod checks that deleted pods come before starting ones, grouped by owner, and that the role determines the
// action.
func TestNextPod(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, role, more string
		plays            bool
	}{
		{"starts", "", `,"status":{"phase":"Pending"}`, true},
		{"stays unbound", "pending", `,"status":{"phase":"Pending"}`, false},
		{"is gated", "", `,"spec":{"schedulingGates":[{"name":"g"}]},"status":{"phase":"Pending"}`, false},
		{"is ready", "", `,"spec":{"nodeName":"n"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}`, false},
		{"is to be unready", "unready", `,"spec":{"nodeName":"n"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}`, true},
		{"is to exit", "exit 3", `,"spec":{"nodeName":"n"},"status":{"phase":"Running"}`, true},
		{"is over", "exit 3", `,"spec":{"nodeName":"n"},"status":{"phase":"Failed"}`, false},
		{"was restarted", "restart 2", `,"spec":{"nodeName":"n"},"status":{"phase":"Running","containerStatuses":[{"restartCount":2}]}`, false},
		{"is to be restarted", "restart 3", `,"spec":{"nodeName":"n"},"status":{"phase":"Running","containerStatuses":[{"restartCount":2}]}`, true},
	} {
		is := is.New(t)
		l := &life{seen: saw(t, `{"kind":"Pod","metadata":{"name":"p","uid":"`+uidA+`","annotations":{"play":"`+test.role+`"}}`+test.more+`}`)}
		p := &player{life: l}
		if p.any() != test.plays {
			t.Errorf("a pod that %s is played: %t", test.name, !test.plays)
		}
		p.rules = []Play{{"no=label", "ready"}}
		is.Equal(p.any(), test.plays) // the rule does not match the pod
	}
}

// TestExitCodes checks that several codes are assigned to completion indexes, and the last code to all following
// indexes.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	for index, want := range map[string]int{"0": 1, "1": 2, "7": 2} {
		pod, err := Decode([]byte(`{"metadata":{"annotations":{"batch.kubernetes.io/job-completion-index":"` + index + `"}}}`))
		is.NoErr(err)
		is.Equal(code(pod.(*Object), "1,2"), want)
	}
}

// TestSteps checks the parsing of steps without requests in situations.
func TestSteps(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c, err := parseCase("# T\n# @whole\n\n### a\n# @state quiet=3.5 pods events\n\n### b\n# @pass :05\n\n### c\n# @play a=b,c=d exit 0,1\n\n### d\n# @settle\n")
	is.NoErr(err)
	is.True(c.Whole)
	is.Equal(*c.Steps[0].Settle, Settle{Quiet: 3500 * time.Millisecond, Compare: true, Of: []string{"pods", "events"}})
	at := time.Date(2026, 1, 2, 3, 4, 50, 0, time.UTC)
	is.Equal(c.Steps[1].Pass.left(at), 15*time.Second)
	is.Equal(c.Steps[1].Pass.left(at.Add(15*time.Second)), time.Minute) // the next minute
	is.Equal(*c.Steps[2].Play, Play{"a=b,c=d", "exit 0,1"})
	is.Equal(c.Steps[3].Settle.Quiet, settleRest)
	for _, wrong := range []string{"### a\n# @play a=b sleep\n", "### a\n# @play a=b exit x\n", "### a\n# @pass soon\n", "### ns\nGET /\n"} {
		_, err := parseCase(wrong)
		is.True(err != nil)
	}
}
