package fault

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// samples are faults and their text forms: every key and every action once.
var samples = []struct {
	fault Fault
	text  string
	level Level
	point Point
}{
	{On("update", "widgets/status").Times(1).Conflict(), "on update widgets/status times=1 do fail Conflict", Legal, RequestDecided},
	{On("get", "pods").Namespace("default").Name("a").NotFound(), "on get pods namespace=default name=a do fail NotFound", Illegal, RequestDecided},
	{On("*", "*").Client("operator/").TooManyRequests(), "on * * client=operator/ do fail TooManyRequests retry=1", Legal, RequestArrived},
	{On("*", "*").Unavailable().RetryAfter(5), "on * * do fail ServiceUnavailable retry=5", Legal, RequestArrived},
	{On("get,list", "/apis/*").User("system:admin").Timeout(), "on get,list /apis/* user=system:admin do fail Timeout", Legal, RequestArrived},
	{On("get", "pods/*").Replica(2).Internal(), "on get pods/* replica=2 do fail InternalError", Degraded, RequestArrived},
	{On("list", "pods").At(RequestArrived).Expired(), "on list pods at=request.arrived do fail Expired", Legal, RequestArrived},
	{On("get", "pods").Gone(), "on get pods do fail Gone", Illegal, RequestDecided},
	{On("get", "pods").Error(403, "Forbidden", "not today"), `on get pods do error 403 Forbidden "not today"`, Illegal, RequestDecided},
	{On("*", "*").At(RequestArrived).Error(503, Unavailable, ""), `on * * at=request.arrived do error 503 ServiceUnavailable ""`, Legal, RequestArrived},
	{On("get", "pods").Error(502, "BadGateway", "x"), `on get pods do error 502 BadGateway x`, Degraded, RequestDecided},
	{On("get", "pods").Answer(map[string]string{"kind": "Pod", "apiVersion": "v1"}), `on get pods do answer "{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}"`, Illegal, RequestArrived},
	{On("create", "pods").Probability(0.25).CommitThenFail(Timeout), "on create pods p=0.25 do commit-then-fail Timeout", Legal, RequestAnswered},
	{On("create", "pods").CommitThenFail(Internal), "on create pods do commit-then-fail InternalError", Degraded, RequestAnswered},
	{On("create", "pods").CommitThenFail(Conflict), "on create pods do commit-then-fail Conflict", Illegal, RequestAnswered},
	{On("get", "deployments.apps").Nth(3).DelayRequest(90 * time.Second), "on get deployments.apps nth=3 do delay-request 1m30s", Legal, RequestArrived},
	{On("get", "pods").Every(2).DelayAnswer(time.Millisecond), "on get pods every=2 do delay-answer 1ms", Legal, RequestAnswered},
	{On("list", "pods").Truncate(0), "on list pods do truncate 0", Legal, RequestAnswered},
	{On("watch", "pods").Event("DELETED").Drop(), "on watch pods event=DELETED do drop", Illegal, WatchSent},
	{On("watch", "pods").Until(time.Hour).Delay(time.Second), "on watch pods until=1h0m0s do delay 1s", Legal, WatchSent},
	{On("watch", "pods").Where("spec.replicas=3").Hold(), "on watch pods where=spec.replicas=3 do hold", Legal, WatchSent},
	{On("watch", "pods").Became("metadata.deletionTimestamp").Close(), "on watch pods became=metadata.deletionTimestamp do close", Legal, WatchSent},
	{On("watch", "pods").Where(`a=b "c" #`).Stall(), `on watch pods where="a=b \"c\" #" do stall`, Legal, WatchSent},
	{On("create,delete", "pods").Compact(), "on create,delete pods do compact", Legal, StoreCommitted},
	{On("list", "pods").Expire(), "on list pods do expire", Legal, RequestDecided},
	{On("update", "pods").At(ReplicaApplied).Lag(2, "pods"), "on update pods at=replica.applied do lag 2 pods", Legal, ReplicaApplied},
	{On("update", "pods").Lag(2, ""), "on update pods do lag 2", Legal, StoreCommitted},
	{On("delete", "pods").Cut(2), "on delete pods do cut 2", Degraded, StoreCommitted},
	{On("delete", "pods").Resume(2), "on delete pods do resume 2", Legal, StoreCommitted},
	{On("get", "pods").Restart(1), "on get pods do restart 1", Legal, RequestDecided},
	{On("create", "pods").StopController("job-controller"), "on create pods do stop job-controller", Legal, StoreCommitted},
	{On("create", "pods").CrashController("job-controller"), "on create pods do crash job-controller", Legal, StoreCommitted},
	{On("create", "pods").StartController("job-controller"), "on create pods do start job-controller", Legal, StoreCommitted},
	{On("create", "pods").SlowController("job-controller", time.Minute), "on create pods do slow job-controller 1m0s", Legal, StoreCommitted},
	{On("create", "pods").RestartController("job-controller"), "on create pods do restart job-controller", Legal, StoreCommitted},
	{On("create", "pods").LagController("job-controller", "pods"), "on create pods do lag job-controller pods", Legal, StoreCommitted},
	{On("create", "pods").ResumeController("job-controller"), "on create pods do resume job-controller", Legal, StoreCommitted},
	{On("get", "pods").Name("").Namespace(" ").Client("a b").Gone(), `on get pods namespace=" " client="a b" do fail Gone`, Illegal, RequestDecided},
}

func TestText(t *testing.T) {
	for _, s := range samples {
		is := is.New(t)
		is.Equal(s.fault.String(), s.text) // printed
		is.NoErr(s.fault.Check())          // possible
		is.Equal(s.fault.Level(), s.level) // the level
		is.Equal(s.fault.Point(), s.point) // the point
		p, err := Parse("# a plan\n\n" + s.text + " # a comment\n")
		is.NoErr(err)
		is.Equal(p, Plan{s.fault}) // parsed again
	}
}

func TestEveryKindHasASample(t *testing.T) {
	is := is.New(t)
	seen := map[Kind]bool{}
	for _, s := range samples {
		seen[s.fault.action.Kind] = true
	}
	is.Equal(len(seen), len(kinds)) // samples and kinds
	for _, k := range kinds {
		row := *k.row
		is.Equal(kindNamed(row.name), k) // its text is parsed to the same kind
		at := map[Point]bool{row.point: true}
		is.Equal(row.answer != nil, at[RequestAnswered])                                 // actions on responses are decided at RequestAnswered
		is.Equal(row.event != nil, at[WatchSent])                                        // actions on events are decided at WatchSent
		is.Equal(row.request != nil || row.cluster != nil, at[""] || at[RequestArrived]) // the others are decided earlier
		is.True(row.request == nil || row.cluster == nil)
	}
}

// TestNoKind checks that an unknown kind is rejected without a panic.
func TestNoKind(t *testing.T) {
	is := is.New(t)
	f := On("get", "pods").Do(Action{})
	is.True(NewInjector(1).Add(start, f) != nil) // it can never occur
	is.Equal(f.String(), "on get pods do ")
	is.Equal(f.Level(), Legal)
}

func TestParseErrors(t *testing.T) {
	for _, c := range [][2]string{
		{"off get pods do drop", "want: on VERB RESOURCE"},
		{"on get pods x=1", "want: on VERB RESOURCE"},
		{"on get pods x=1 do drop", `unknown key "x"`},
		{"on get pods nth=x do drop", `nth="x"`},
		{"on get pods nth=-1 do drop", "must not be negative"},
		{"on fetch pods do fail Conflict", `unknown verb "fetch"`},
		{"on get pods do explode", `unknown action "explode"`},
		{"on get pods do fail", "the argument is missing"},
		{"on get pods do fail Sadness", "the errors are"},
		{"on get pods do fail Conflict now", `unexpected "now"`},
		{"on watch pods do drop it", `unexpected "it"`},
		{"on get pods do drop", "its verb is watch"},
		{"on get pods event=ADDED do fail Conflict", "does not happen to events"},
		{"on watch pods event=added do drop", "unknown event type"},
		{"on watch pods at=request.decided do drop", "happens at watch.sent"},
		{"on create pods at=store.committed do fail Timeout", "see commit-then-fail"},
		{"on create pods at=Here do compact", "unknown point"},
		{"on watch pods do delay 0s", "above zero"},
		{"on get pods do truncate -1", "must not be negative"},
		{"on get pods do lag 0", "counted from 1"},
		{"on get pods p=2 do compact", "between 0 and 1"},
		{"on get pods p=NaN do compact", "between 0 and 1"},
		{"on get pods where=a[b do compact", "after [, a name and a ] are required"},
		{"on get pods where== do compact", "names no field"},
		{`on get pods name="a do compact`, "the quote is not closed"},
		{`on get pods name="a"b do compact`, "behind a quote"},
		{`on get pods na"me" do compact`, "must be at the beginning of a word"},
	} {
		is := is.New(t)
		_, err := Parse("\n" + c[0])
		is.True(err != nil) // rejected
		if err != nil && !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v, want %s", c[0], err, c[1])
		}
		if err != nil {
			is.True(strings.Contains(err.Error(), "line 2")) // the line is named
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range samples {
		f.Add(s.text)
	}
	for seed := range uint64(20) {
		f.Add(Random(seed, 5, "pods", "widgets/status").String())
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(p.String())
		if err != nil || !reflect.DeepEqual(p, again) {
			t.Fatalf("%q was printed as %q and read as %v, %v", text, p.String(), again, err)
		}
	})
}

func TestRandomIsLegal(t *testing.T) {
	is := is.New(t)
	sizes := map[int]bool{}
	for seed := range uint64(500) {
		p := Random(seed, 8, "pods", "widgets/status")
		kinds := map[Kind]bool{}
		for _, f := range p {
			is.NoErr(f.Check())
			is.Equal(f.Level(), Legal)
			kinds[f.action.Kind] = true
		}
		sizes[len(kinds)] = true
		again, err := Parse(p.String())
		is.NoErr(err)
		is.Equal(again, p)                                     // the text form determines the plan
		is.Equal(Random(seed, 8, "pods", "widgets/status"), p) // the seed determines the plan
	}
	is.True(len(sizes) > 4) // some plans contain few kinds of faults, some many
}

func TestMatches(t *testing.T) {
	pod := &Op{Verb: "update", Resource: "pods", Namespace: "default", Name: "a", UserAgent: "operator/v1", User: "jane", Replica: 1}
	status := &Op{Verb: "patch", Group: "example.com", Resource: "widgets", Subresource: "status", Replica: 2}
	document := &Op{Verb: "get", Path: "/apis/apps/v1", Replica: 1}
	for _, c := range []struct {
		trigger Trigger
		want    []*Op
	}{
		{On("*", "*"), []*Op{pod, status, document}},
		{On("create,update", "*"), []*Op{pod}},
		{On("*", "pods"), []*Op{pod}},
		{On("*", "pods."), []*Op{pod}}, // the group without a name
		{On("*", "widgets"), nil},      // not its subresources
		{On("*", "widgets/status"), []*Op{status}},
		{On("*", "widgets.example.com/*"), []*Op{status}},
		{On("*", "widgets.example.org/*"), nil},
		{On("*", "*/status"), []*Op{status}},
		{On("get", "/apis/*"), []*Op{document}},
		{On("get", "/apis"), nil},
		{On("*", "*").Namespace("default"), []*Op{pod}},
		{On("*", "*").Name("a"), []*Op{pod}},
		{On("*", "*").Client("operator/"), []*Op{pod}},
		{On("*", "*").User("jane"), []*Op{pod}},
		{On("*", "*").Replica(2), []*Op{status}},
	} {
		var got []*Op
		for _, op := range []*Op{pod, status, document} {
			if c.trigger.matches(op) {
				got = append(got, op)
			}
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s matches %v, want %v", c.trigger.Compact(), got, c.want)
		}
	}
}

func TestConditions(t *testing.T) {
	now, err := object.Parse([]byte(`{"metadata":{"name":"a","labels":{"a.b/c":"x"},"deletionTimestamp":"t"},"spec":{"n":3,"list":[{"image":"i"}],"on":true}}`))
	if err != nil {
		t.Fatal(err)
	}
	old, _ := object.Parse([]byte(`{"metadata":{"name":"a"},"spec":{"n":3}}`))
	op := &Op{Verb: "update", Resource: "pods", Object: func() object.Object { return now }, Old: func() object.Object { return old }}
	for text, want := range map[string]bool{
		"spec.n": true, "!spec.n": false, "spec.m": false, "!spec.m": true,
		"spec.n=3": true, "spec.n=4": false, "spec.n!=4": true, "spec.m!=4": true, "spec.on=true": true,
		"metadata.labels[a.b/c]=x": true, "metadata.labels[a.b/c]!=x": false,
		"spec.list.0.image=i": true, "spec.list[0].image=i": true, "spec.list.1.image": false, "spec.list.x": false, "spec.n.x": false,
	} {
		is := is.New(t)
		t.Log(text)
		is.Equal(On("*", "*").Where(text).matches(op), want) // the condition named above
	}
	is := is.New(t)
	is.True(On("*", "*").Became("metadata.deletionTimestamp").matches(op)) // it did not hold before
	is.True(!On("*", "*").Became("spec.n=3").matches(op))                  // it was 3 already
	is.True(On("*", "*").Name("a").matches(op))                            // the name of a create is in the object
	op.Object = nil
	is.True(!On("*", "*").Where("!spec").matches(op)) // without an object no condition holds
}

// fires returns a string with a 1 for each of n equal ops at which the first fault occurs, and a 0 for each other op.
func fires(t *testing.T, seed uint64, n int, faults ...Fault) string {
	t.Helper()
	in := NewInjector(seed)
	if err := in.Add(start, faults...); err != nil {
		t.Fatal(err)
	}
	text := faults[0].String()
	var b strings.Builder
	for range n {
		hit := "0"
		for _, f := range in.At(faults[0].Point(), &Op{Verb: "create", Resource: "pods"}, start) {
			if f.Fault == text {
				hit = "1"
			}
		}
		b.WriteString(hit)
	}
	return b.String()
}

func TestScope(t *testing.T) {
	is := is.New(t)
	on := On("create", "pods")
	is.Equal(fires(t, 1, 6, on.Conflict()), "111111")
	is.Equal(fires(t, 1, 6, on.Times(2).Conflict()), "110000")
	is.Equal(fires(t, 1, 6, on.Nth(3).Conflict()), "001000")
	is.Equal(fires(t, 1, 6, on.Every(2).Conflict()), "010101")
	is.Equal(fires(t, 1, 6, on.Nth(1).Every(3).Conflict()), "100100")
	is.Equal(fires(t, 1, 6, on.Every(2).Times(2).Conflict()), "010100")
	is.Equal(fires(t, 1, 6, on.Probability(0).Conflict()), "000000")

	in := NewInjector(1)
	is.NoErr(in.Add(start, on.Until(time.Minute).Conflict()))
	op := &Op{Verb: "create", Resource: "pods"}
	is.Equal(len(in.At(RequestDecided, op, start.Add(time.Minute-1))), 1) // until the minute is over
	is.Equal(len(in.At(RequestDecided, op, start.Add(time.Minute))), 0)
	is.Equal(len(in.At(RequestArrived, op, start)), 0) // only at its point
	is.Equal(in.String(), "on create pods until=1m0s do fail Conflict # legal, matched 1, happened 1\n")
}

// TestDrawsAreIndependent checks that removing one fault does not change the draws of another one, even if the first
// one ended requests before the second one was decided.
func TestDrawsAreIndependent(t *testing.T) {
	is := is.New(t)
	delay := On("create", "pods").Probability(0.5).DelayAnswer(time.Second)
	fail := On("create", "pods").Probability(0.5).CommitThenFail(Timeout)
	alone := fires(t, 7, 200, delay)
	is.Equal(fires(t, 7, 200, delay, fail), alone)                    // with another fault after it
	is.Equal(fires(t, 7, 200, delay), alone)                          // again
	is.True(fires(t, 8, 200, delay) != alone)                         // another seed produces other draws
	is.True(fires(t, 7, 200, delay, delay) != fires(t, 7, 200, fail)) // each fault has a separate stream

	in := NewInjector(7)
	is.NoErr(in.Add(start, fail, delay))
	var draws strings.Builder
	for range 200 {
		in.At(RequestAnswered, &Op{Verb: "create", Resource: "pods"}, start)
	}
	decisions, forgotten := in.Decisions()
	is.Equal(forgotten, uint64(0))
	failed := map[int]bool{}
	for _, d := range decisions {
		is.Equal(d.Site, "request.answered create pods") // where it was decided
		if d.Fault == fail.String() {
			failed[d.Match] = d.Fired
			continue
		}
		switch {
		case failed[d.Match]:
			draws.WriteByte(alone[d.Match-1]) // the request had already ended: the draw has no effect, but was made
		case d.Fired:
			draws.WriteByte('1')
		default:
			draws.WriteByte('0')
		}
	}
	is.Equal(draws.String(), alone) // also with another fault before it
}

func TestFinalActions(t *testing.T) {
	is := is.New(t)
	in := NewInjector(1)
	on := On("create", "pods").At(RequestDecided)
	is.NoErr(in.Add(start, on.Compact(), on.Conflict(), on.Expire()))
	fired := in.At(RequestDecided, &Op{Verb: "create", Resource: "pods"}, start)
	is.Equal(len(fired), 2)          // no action follows a response
	is.Equal(fired[0].Kind, Compact) // in the order of the plan
	is.Equal(fired[1].Reason, Conflict)
	is.Equal(len(in.Plan()), 3)
	is.True(in.Add(start, On("get", "pods").Drop()) != nil) // impossible faults are rejected
	in.Clear()
	is.True(in.Empty())
}

func TestDecisionsAreBounded(t *testing.T) {
	is := is.New(t)
	in := NewInjector(1)
	is.NoErr(in.Add(start, On("*", "*").Compact()))
	for range 3 * decisionsMax {
		in.At(RequestDecided, &Op{Verb: "get", Resource: "pods"}, start)
	}
	list, forgotten := in.Decisions()
	is.True(len(list) <= decisionsMax)
	is.Equal(len(list)+int(forgotten), 3*decisionsMax) // all decisions are counted
}
