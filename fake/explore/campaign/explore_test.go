package campaign_test

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake/explore/campaign"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/trouble"
)

const plan = `seed 17
on watch secrets client=operator event=ADDED times=1 do delay 8s
before operator 3 do crash operator 5s stale=2 20s
after operator 1 do crash operator 1s
at 1m30s do cut 2 30s
at 0s do lag 1 10s pods
at 1s do restart 1
before operator 2 do touch
at 2s do expire
at 3s do depose
at 4s do jump operator -1h0m0s
at 1m30s do edit sites.web.example.com default/blog {"spec":{"scale": {"replicas":0}}}
`

// TestParse checks that a plan equals its text form after parsing, and that errors name the line.
func TestParse(t *testing.T) {
	is := is.New(t)
	p, err := campaign.Parse("# a comment\n\n" + plan)
	is.NoErr(err)
	is.Equal(p.String(), plan)
	for _, c := range []struct{ text, says string }{
		{"seed x", `line 1: "x" is not a seed`},
		{"seed 1\nat 1s do nothing", "line 2: do nothing: the action must be crash"},
		{"before operator do touch", "use at TIME"},
		{"after operator 0 do touch", "counted from 1"},
		{"at soon do touch", "is not a time"},
		{"at 1s do crash operator", "the action must be"},
		{"touch", "WHEN do WHAT"},
		{"on update pods do nothing", "line 1: "},
	} {
		_, err := campaign.Parse(c.text)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want %s", c.text, err, c.says)
		}
	}
}

// recorded is a World that records the calls of its methods.
type recorded struct{ said []string }

func (r *recorded) say(words ...any) {
	data, _ := json.Marshal(words) // numbers and texts
	r.said = append(r.said, string(data))
}
func (r *recorded) Crash(name string, down time.Duration) { r.say("crash", name, down.String()) }
func (r *recorded) CrashStale(name string, down time.Duration, replica int, caught time.Duration) {
	r.say("stale", name, down.String(), replica, caught.String())
}
func (r *recorded) Replica(t trouble.Trouble, d time.Duration) {
	r.say(t.Kind.Name, t.Replica, d.String(), strings.Join(t.Resources, ","))
}
func (r *recorded) Expire()                             { r.say("expire") }
func (r *recorded) Touch()                              { r.say("touch") }
func (r *recorded) Depose()                             { r.say("depose") }
func (r *recorded) Edit(resource, key, patch string)    { r.say("edit", resource, key, patch) }
func (r *recorded) Jump(client string, d time.Duration) { r.say("jump", client, d.String()) }

// TestStepsOfReplicas checks that actions on replicas are parsed with the arguments of their kinds in package trouble.
func TestStepsOfReplicas(t *testing.T) {
	is := is.New(t)
	for line, right := range map[string]bool{"at 1s do lag 1 10s pods": true, "at 1s do lag 1 10s": true, "at 1s do cut 1 10s": true, "at 1s do restart 1": true,
		"at 1s do cut 1 10s pods": false, "at 1s do restart 1 10s": false, "at 1s do lag 1": false, "at 1s do stall 1 10s": false} {
		s, err := campaign.ParseStep(line)
		is.Equal(err == nil, right) // accepted or rejected
		if right {
			is.Equal(s.String(), line)
		}
	}
}

// TestSteps checks that each parsed step performs the action in its text.
func TestSteps(t *testing.T) {
	is := is.New(t)
	p, err := campaign.Parse(plan)
	is.NoErr(err)
	w := &recorded{}
	for _, s := range p.Steps() {
		s.Do.Do(w)
	}
	is.Equal(w.said, []string{`["stale","operator","5s",2,"20s"]`, `["crash","operator","1s"]`, `["cut",2,"30s",""]`, `["lag",1,"10s","pods"]`,
		`["restart",1,"0s",""]`, `["touch"]`, `["expire"]`, `["depose"]`, `["jump","operator","-1h0m0s"]`,
		`["edit","sites.web.example.com","default/blog","{\"spec\":{\"scale\": {\"replicas\":0}}}"]`})
}

// TestShrink checks that a plan becomes minimal, with the shortest waits and the earliest times, and that the empty
// plan is tried first.
func TestShrink(t *testing.T) {
	is := is.New(t)
	p, err := campaign.Parse(plan)
	is.NoErr(err)
	small, ok := campaign.Shrink(p, func(q campaign.Plan) bool {
		return strings.Contains(q.String(), "crash operator") && strings.Contains(q.String(), "cut 2")
	})
	is.True(ok)
	is.Equal(small.Lines(), "after operator 1 do crash operator 1s\nat 0s do cut 2 1s\n")
	tried := 0
	small, ok = campaign.Shrink(p, func(campaign.Plan) bool { tried++; return true })
	is.True(ok)
	is.Equal([]int{tried, len(small.Items)}, []int{1, 0})
	_, ok = campaign.Shrink(p, func(campaign.Plan) bool { return false })
	is.True(!ok)
}

// TestShrinkEdits checks that shrinking reduces an edit to the single field that makes the test fail, with the smallest
// value that does so.
func TestShrinkEdits(t *testing.T) {
	is := is.New(t)
	const edit = `at 1m30s do edit sites.web.example.com default/blog ` +
		`{"spec":{"name":"example","on":true,"ports":[{"port":80,"tls":null},{"port":8443,"tls":"x"}],"scale":{"replicas":17,"strategy":"Recreate"}}}`
	for _, x := range []struct {
		want  string
		fails func(spec edited) bool
	}{
		{`{"spec":{"scale":{"replicas":10}}}`, func(e edited) bool { return e.Scale.Replicas > 9 }},
		{`{"spec":{"ports":[{"port":81}]}}`, func(e edited) bool { return slices.ContainsFunc(e.Ports, func(p port) bool { return p.Port > 80 }) }},
		{`{"spec":{"name":"exa"}}`, func(e edited) bool { return strings.HasPrefix(e.Name, "exa") }},
		{`{"spec":{"ports":[{"tls":""}]}}`, func(e edited) bool { return slices.ContainsFunc(e.Ports, func(p port) bool { return p.TLS != nil }) }},
		{`{"spec":{"on":true}}`, func(e edited) bool { return e.On }},
	} {
		p, err := campaign.Parse("seed 1\n" + edit)
		is.NoErr(err)
		runs := 0
		small, ok := campaign.Shrink(p, func(q campaign.Plan) bool {
			runs++
			var e struct{ Spec edited }
			if len(q.Items) == 0 || json.Unmarshal([]byte(q.Steps()[0].Do.(campaign.Edit).Patch), &e) != nil {
				return false // a rejected patch has no effect
			}
			return x.fails(e.Spec)
		})
		is.True(ok)
		is.Equal(small.Lines(), "at 0s do edit sites.web.example.com default/blog "+x.want+"\n")
		is.True(runs < 100) // each run takes time
	}
}

// edited is the spec of a custom resource. The operator under test handles one of its fields incorrectly.
type edited struct {
	Name  string
	On    bool
	Ports []port
	Scale struct{ Replicas int }
}

type port struct {
	Port int
	TLS  *string
}

func seen() *campaign.Outcome {
	return &campaign.Outcome{Seen: campaign.Seen{Resources: []string{"leases.coordination.k8s.io", "secrets"}, Replicas: 2, Took: time.Minute,
		Clients: []campaign.Client{{Name: "operator", Writes: 3, Process: true, Clock: true}},
		Objects: []campaign.Object{{Resource: "widgets.example.com", Key: "default/w", Schema: []byte(schema), Spec: []byte(`{"size":3}`)}}}}
}

// TestDraw checks that each plan depends only on its seed, that all plans can be parsed, and that every kind of fault
// and step occurs.
func TestDraw(t *testing.T) {
	is := is.New(t)
	limits := campaign.Limits{Items: 8, Level: fault.Degraded, Without: []string{"expire", "truncate"}}
	one, other := campaign.NewCampaign(limits, seen()), campaign.NewCampaign(limits, seen())
	kinds := map[string]bool{}
	for seed := range uint64(500) {
		p := one.Plan(seed)
		is.Equal(other.Plan(seed).String(), p.String())
		again, err := campaign.Parse(p.String())
		is.NoErr(err)
		is.Equal(again.String(), p.String())
		for _, i := range p.Items {
			kinds[i.Kind()] = true
		}
		o := &campaign.Outcome{Sequences: []uint64{seed}} // a new sequence, so that the plan is mutated
		one.Learn(p, o)
		other.Learn(p, o)
	}
	for _, kind := range []string{"fail", "commit-then-fail", "delay-request", "delay-answer", "delay", "hold", "close", "stall", "compact",
		"crash", "lag", "cut", "restart", "touch", "depose", "edit", "jump"} {
		is.True(kinds[kind]) // the kind occurs
	}
	is.True(!kinds["expire"] && !kinds["truncate"]) // excluded kinds do not occur
	sequences, plans := one.Known()
	is.Equal([]int{sequences, plans}, []int{500, 500})
}

const schema = `{"type":"object","required":["size"],"properties":{"size":{"type":"integer","minimum":1,"maximum":9},
	"colour":{"type":"string","enum":["red","green"]},"on":{"type":"boolean"},
	"parts":{"type":"array","maxItems":3,"items":{"type":"string"}},"labels":{"type":"object","additionalProperties":{"type":"string"}},
	"inner":{"type":"object","required":["name"],"properties":{"name":{"type":"string","minLength":3},"depth":{"type":"integer"}}}}}`

// TestRandomPatch checks that edits are valid according to the schema.
func TestRandomPatch(t *testing.T) {
	is := is.New(t)
	r := rand.New(rand.NewPCG(1, 1))
	texts := map[string]bool{}
	for range 500 {
		var p struct {
			Spec struct {
				Size   *int
				Colour *string
				Inner  *struct{ Name string }
			}
		}
		text := campaign.RandomPatch(r, seen().Seen.Objects[0])
		is.NoErr(json.Unmarshal(text, &p))
		texts[string(text)] = true
		is.True(p.Spec.Size == nil || *p.Spec.Size >= 1 && *p.Spec.Size <= 9)
		is.True(p.Spec.Colour == nil || *p.Spec.Colour == "red" || *p.Spec.Colour == "green")
		is.True(p.Spec.Inner == nil || len(p.Spec.Inner.Name) >= 3) // required fields are included
	}
	is.True(len(texts) > 30)
	is.True(texts[`{"spec":{"size":9}}`])     // a bound occurs
	is.True(!texts[`{"spec":{"size":null}}`]) // a required field is not removed
}

// TestRandomPatchOfList checks that an edit of a list removes, adds or changes one item, and keeps the others.
func TestRandomPatchOfList(t *testing.T) {
	is := is.New(t)
	r := rand.New(rand.NewPCG(1, 1))
	texts := map[string]bool{}
	for range 300 {
		texts[string(campaign.RandomPatch(r, campaign.Object{Spec: []byte(`{"pools":[{"name":"a","size":4},{"name":"b"}]}`), Schema: []byte(
			`{"type":"object","properties":{"pools":{"type":"array","items":{"type":"object","required":["name"],"properties":{
			"name":{"type":"string","enum":["c"]},"size":{"type":"integer","minimum":1,"maximum":9}}}}}}`)}))] = true
	}
	for _, pools := range []string{`{"name":"b"}`, `{"name":"a","size":4},{"name":"b"},{"name":"c"}`, `{"name":"a","size":5},{"name":"b"}`, `{"name":"a"},{"name":"b"}`} {
		is.True(texts[`{"spec":{"pools":[`+pools+`]}}`])
	}
}

// TestNoItems checks that plans have no faults and no steps if the number of items is negative.
func TestNoItems(t *testing.T) {
	is := is.New(t)
	c := campaign.NewCampaign(campaign.Limits{Items: -1, Level: fault.Degraded}, seen())
	for seed := range uint64(50) {
		is.Equal(c.Plan(seed).String(), campaign.Plan{Seed: seed}.String())
	}
}

// TestSuspects checks that Suspects reports the writes that occur more or less often in one run than in the other.
func TestSuspects(t *testing.T) {
	is := is.New(t)
	create := campaign.Write{N: 5, Client: "op", Verb: "create", What: "pods", Key: "default/a", Code: 201, Committed: true}
	again, lost := create, create
	again.N, again.Key, again.At = 9, "default/b", time.Second
	lost.Code = 504
	refused := campaign.Write{N: 7, Client: "op", Verb: "update", What: "pods", Key: "default/a", Code: 409}
	updated := refused
	updated.Code = 200
	is.Equal(campaign.Suspects(&campaign.Outcome{Writes: []campaign.Write{create, updated}}, &campaign.Outcome{Writes: []campaign.Write{lost, again, refused}}),
		`op create pods: 2 times instead of 1
  its client got another answer: n 5, +0s: create pods default/a: 504
  additional write: n 9, +1s: create pods default/b
op update pods: 0 times instead of 1
  failed: n 7, +0s: update pods default/a: 409
`)
}

// TestAbandoned checks that Abandoned reports the last write of each object if it failed and was needed.
func TestAbandoned(t *testing.T) {
	is := is.New(t)
	list := []campaign.Write{
		{Client: "op", Verb: "update", What: "pods/status", Key: "default/a", Code: 504}, // tried again
		{Client: "op", Verb: "patch", What: "pods/status", Key: "default/a", Code: 200, Committed: true},
		{Client: "op", Verb: "update", What: "sites/status", Key: "default/a", Code: 504, N: 7, At: time.Second},
		{Client: "other", Verb: "update", What: "sites/status", Key: "default/a", Code: 200, Committed: true}, // another client
		{Client: "op", Verb: "delete", What: "sites", Key: "default/a", Code: 404},                            // not needed
		{Client: "op", Verb: "create", What: "pods", Key: "default", Code: 409},
		{Client: "op", Verb: "create", What: "secrets", Key: "default", Code: 504, Committed: true}, // stored
	}
	is.Equal(campaign.Abandoned(&campaign.Outcome{Writes: list}), "op update sites/status default/a: 504 at +1s (n 7)\n")
}

// TestShard checks that the environment variables determine the shard.
func TestShard(t *testing.T) {
	is := is.New(t)
	for _, c := range []struct{ shard, index, shards, want, says string }{
		{"", "", "", "1/1", ""},
		{"2/8", "0", "4", "2/8", ""},
		{"", "3", "4", "4/4", ""},
		{"", "3", "", "1/1", ""}, // an Indexed Job for another purpose
		{"", "4", "4", "", "must be at least 0 and less than"},
		{"0/4", "", "", "", "from 1 to N"},
	} {
		env := map[string]string{campaign.ShardVariable: c.shard, campaign.IndexVariable: c.index, campaign.ShardsVariable: c.shards}
		s, err := campaign.ShardOf(func(name string) string { return env[name] })
		if c.says != "" {
			is.True(err != nil && strings.Contains(err.Error(), c.says))
			continue
		}
		is.NoErr(err)
		is.Equal(s.String(), c.want)
	}
}

// TestLink checks that a link contains deflated JSON, and that Link returns "" if the link would be too long.
func TestLink(t *testing.T) {
	is := is.New(t)
	packed, ok := strings.CutPrefix(campaign.Link("https://example.com/page/", "create cm a\n"), "https://example.com/page/#v1.any.")
	is.True(ok)
	data, err := base64.RawURLEncoding.DecodeString(packed)
	is.NoErr(err)
	text, err := io.ReadAll(flate.NewReader(bytes.NewReader(data)))
	is.NoErr(err)
	is.Equal(string(text), `{"scenario":"create cm a\n"}`)
	long := make([]byte, 20_000)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range long {
		long[i] = byte('a' + r.IntN(26))
	}
	is.Equal(campaign.Link("", string(long)), "")
}

// TestStory checks that a story contains the writes of clients without uids and resourceVersions, and that there is no
// story if a body is not JSON.
func TestStory(t *testing.T) {
	is := is.New(t)
	list := []campaign.Sent{
		{Client: "op", Method: "POST", Path: "/api/v1/pods", ContentType: "application/json",
			Body: []byte(`{"metadata":{"generateName":"a-","resourceVersion":"7"}}`), Name: "a-x"},
		{At: 1500 * time.Millisecond, Client: "op", Method: "DELETE", Path: "/api/v1/pods/a-x", Body: []byte(`{"preconditions":{"uid":"1"}}`)},
	}
	text, ok := campaign.Story("why", list)
	is.True(ok)
	is.Equal(text, `# why
# The writes, with their clients and times.

request POST /api/v1/pods --as op -f w1.json -H 'Content-Type: application/json'
tick 1.5s
request DELETE /api/v1/pods/a-x --as op

-- w1.json --
{
  "metadata": {
    "generateName": "a-",
    "name": "a-x"
  }
}
`)
	list[0].ContentType = "application/vnd.kubernetes.protobuf"
	_, ok = campaign.Story("why", list)
	is.True(!ok)
}
