package engine

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/object"
)

// page sends messages to an Engine like a page.
type page struct {
	t        testing.TB
	e        *Engine
	id       int
	frames   []map[string]any
	received int // number of frames in all messages
}

func newPage(t testing.TB) *page { return &page{t: t, e: New()} }

// send sends a message and returns the response. It collects the frames.
func (p *page) send(kind string, more ...any) map[string]any {
	p.t.Helper()
	p.id++
	msg := map[string]any{"v": 1, "id": p.id, "kind": kind}
	for i := 0; i < len(more); i += 2 {
		msg[more[i].(string)] = more[i+1]
	}
	b, err := json.Marshal(msg)
	if err != nil {
		p.t.Fatal(err)
	}
	var answer map[string]any
	for _, raw := range p.e.Handle(b) {
		var got map[string]any
		if err := json.Unmarshal(raw, &got); err != nil {
			p.t.Fatalf("%s: %v", raw, err)
		}
		if got["kind"] != "frames" {
			if answer != nil || got["id"] != float64(p.id) {
				p.t.Fatalf("%s is not the one answer to message %d", raw, p.id)
			}
			answer = got
			continue
		}
		if got["reset"] == true {
			p.frames = p.frames[:int(got["keep"].(float64))]
		}
		for _, f := range got["frames"].([]any) {
			p.frames = append(p.frames, f.(map[string]any))
			p.received++
		}
	}
	return answer
}

// must sends a message whose response must be ok.
func (p *page) must(kind string, more ...any) map[string]any {
	p.t.Helper()
	answer := p.send(kind, more...)
	if answer["kind"] != "ok" {
		p.t.Fatalf("%s %v: %v", kind, more, answer["error"])
	}
	return answer
}

// do executes operations.
func (p *page) do(lines ...string) map[string]any {
	p.t.Helper()
	var answer map[string]any
	for _, line := range lines {
		answer = p.must("do", "op", map[string]any{"line": line})
	}
	return answer
}

func (p *page) hash() string { return p.must("hash")["hash"].(string) }

// at returns a value in a response by its path, such as "head.n".
func at(answer map[string]any, path string) any {
	var v any = answer
	for step := range strings.SplitSeq(path, ".") {
		if list, ok := v.([]any); ok {
			n, err := strconv.Atoi(step)
			if err != nil || n >= len(list) {
				return nil
			}
			v = list[n]
			continue
		}
		m, _ := v.(map[string]any)
		v = m[step]
	}
	return v
}

// fault returns a field of an error response.
func fault(answer map[string]any, field string) any { return at(answer, "error."+field) }

var someOps = []string{
	"replicas 2",
	"create configmap a --from-literal k=1 --as alice",
	"watch configmaps --name w --as bob --via 2",
	"lag 2",
	"patch configmap a -p '{\"data\":{\"k\":\"2\"}}'",
	"list configmaps --limit=1 -o table",
	"tick 1m",
	"resume 2",
	"informer eye configmaps",
	"delete configmap a",
	"create configmap --from-literal x=y b",
}

// TestSeek checks that the same operations always produce the same frames, whatever positions were visited.
func TestSeek(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	p.must("boot", "seed", "7")
	hashes := []string{p.hash()}
	for _, op := range someOps {
		p.do(op)
		hashes = append(hashes, p.hash())
	}
	for _, n := range []int{0, 3, 9, 2, len(someOps)} {
		answer := p.must("seek", "n", n)
		is.Equal(at(answer, "head.n"), float64(n))
		is.Equal(p.hash(), hashes[n])                               // the same world as on the way there
		is.Equal(float64(len(p.frames)), at(answer, "head.frames")) // the page has every frame
	}
	for i, f := range p.frames {
		is.Equal(f["n"], float64(i+1)) // without gaps
	}
	is.Equal(at(p.must("undo"), "head.n"), float64(len(someOps)-1))
	is.Equal(at(p.must("redo"), "head.total"), float64(len(someOps)))
	is.Equal(p.send("redo")["kind"], "error") // nothing comes after the end
}

// TestKept moves to random positions, and checks that the page receives only the frames that it does not have, and has the same ones as a page
// that was never elsewhere.
func TestKept(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	same := func(fresh *page) {
		t.Helper()
		is.Equal(len(p.frames), len(fresh.frames))
		for i, f := range fresh.frames {
			is.Equal(p.frames[i], f)
		}
	}
	p.must("boot", "seed", "7")
	p.do(someOps...)
	ends := []int{}
	for n := range len(someOps) + 1 {
		fresh := newPage(t)
		fresh.must("boot", "seed", "7")
		fresh.do(someOps[:n]...)
		ends = append(ends, len(fresh.frames))
		received := p.received
		p.must("seek", "n", n)
		same(fresh)
		if n == 0 {
			is.Equal(p.received, received) // all of them were there
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	at := len(someOps)
	for range 30 {
		n := r.IntN(len(someOps) + 1)
		received := p.received
		p.must("seek", "n", n)
		is.Equal(len(p.frames), ends[n])
		is.Equal(p.received-received, max(0, ends[n]-ends[at]))
		at = n
	}
	p.must("seek", "n", 3)
	p.do("create configmap other")
	fresh := newPage(t)
	fresh.must("boot", "seed", "7")
	fresh.do(append(slices.Clone(someOps[:3]), "create configmap other")...)
	same(fresh)
}

func TestOpOfFrames(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	p.must("boot", "lesson", "first")
	setup := len(p.frames)
	is.True(setup > 0 && p.frames[setup-1]["op"] == nil) // what the lesson did itself belongs to no operation of the log
	p.do("create configmap x")
	is.Equal(p.frames[setup]["op"], float64(1)) // the first of the learner
}

// TestFork checks that branches are independent, and that do after seek discards the operations after the position.
func TestFork(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	p.must("boot")
	p.do("create configmap a", "create configmap b")
	main := p.hash()
	is.Equal(at(p.must("fork", "n", 1), "head.branch"), "1")
	p.do("create configmap c")
	is.True(p.hash() != main) // another end
	is.Equal(at(p.must("branch", "branch", "0"), "head.total"), 2.0)
	is.Equal(p.hash(), main) // the first branch is as it was left
	p.must("seek", "n", 1)
	is.Equal(at(p.do("create configmap c"), "head.total"), 2.0) // b is cut off
	is.Equal(at(p.must("branch", "branch", "1"), "head.n"), 2.0)
}

// TestQueriesLeaveNoTrace queries every view after every operation, and checks that the frames do not change.
func TestQueriesLeaveNoTrace(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	quiet, asked := newPage(t), newPage(t)
	quiet.must("boot")
	asked.must("boot")
	for _, op := range someOps {
		quiet.do(op)
		asked.do(op)
		for _, view := range object.SortedKeys(views) {
			asked.send("query", "view", view, "resource", "configmaps", "ns", "default", "name", "a", "frame", 1,
				"line", "get configmaps ", "token", "x", "lesson", "first", "from", "4005")
		}
		is.Equal(asked.hash(), quiet.hash()) // after: op
	}
}

// TestBroken checks that a panic is reported, that the log is kept, and that seek restores the same frames.
func TestBroken(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	p.must("boot")
	p.do(someOps[:5]...)
	hash := p.hash()
	p.e.run.world = nil // any operation panics now
	answer := p.send("do", "op", map[string]any{"line": "get configmaps"})
	is.Equal(fault(answer, "fatal"), true)
	is.True(strings.Contains(fmt.Sprint(fault(answer, "text")), "the simulator stopped"))
	is.Equal(len(at(p.must("query", "view", "log"), "data.log").([]any)), 5) // nothing of the log is lost
	is.Equal(p.send("do", "op", map[string]any{"line": "get configmaps"})["kind"], "error")
	p.must("seek", "n", 5)
	is.Equal(p.hash(), hash) // as before
}

func TestCredit(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	p.must("credit", "frames", 3)
	p.must("boot")
	head := p.do("create configmap a", "create configmap b")
	is.Equal(len(p.frames), 3) // no more than was granted
	p.must("credit", "frames", 512)
	is.Equal(float64(len(p.frames)), at(head, "head.frames")) // the rest comes when there is room
}

func TestRefused(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	for _, kind := range []string{"do", "tick", "seek", "undo", "fork", "hash", "check", "solve"} {
		is.True(strings.Contains(fmt.Sprint(fault(p.send(kind, "n", 1, "until", "next"), "text")), "boot")) // says what to do first
	}
	is.Equal(fault(p.send("boot", "v", 2), "fatal"), true) // another version of the protocol
	is.True(strings.Contains(fmt.Sprint(fault(p.send("dance"), "text")), "dance"))
	p.must("boot")
	before := p.hash()
	answer := p.send("do", "op", map[string]any{"line": "creat configmap a"})
	is.True(strings.Contains(fmt.Sprint(fault(answer, "text")), "create")) // the error suggests the right command
	is.Equal(p.hash(), before)                                             // and nothing has happened
	is.Equal(at(p.must("query", "view", "log"), "data.n"), 0.0)
}

// TestTooMuch checks that operations are rejected if they would take seconds or if the world is full.
func TestTooMuch(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	p.must("boot")
	p.do("tick 24h")
	for _, line := range []string{"tick 25h", "clock advance 100000h", "pause 25h", "eventually within 240h configmaps/a exists"} {
		is.True(strings.Contains(fmt.Sprint(fault(p.send("do", "op", map[string]any{"line": line}), "text")), "at most 24h"))
	}
	p.e.run.room = len(p.frames) + 1
	p.do("create configmap a") // the last one that fits
	answer := p.send("do", "op", map[string]any{"line": "create configmap b"})
	is.True(strings.Contains(fmt.Sprint(fault(answer, "text")), "is full"))
	p.must("undo") // there is a way out
}

// TestNeeds checks that an error names the engine or data that the page has to load before it boots again.
func TestNeeds(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	is.Equal(minorOf("v1.35.2"), "1.35")
	is.Equal(minorOf("1.34"), "1.34")
	const crd = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"as.x.io"},"spec":{"group":"x.io",
		"scope":"Namespaced","names":{"plural":"as","kind":"A"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":
		{"type":"object","properties":{"spec":{"type":"integer","x-kubernetes-validations":[{"rule":"self > 0"}]}}}}}]}}`
	p := newPage(t)
	p.must("boot")
	p.do("create configmap a")
	before := p.hash()
	answer := p.send("do", "op", map[string]any{"line": "create -f crd.json", "files": map[string]any{"crd.json": crd}})
	if cel.Supported {
		is.Equal(answer["kind"], "ok")
		return
	}
	is.Equal(fault(answer, "needs"), "cel")
	is.Equal(p.hash(), before) // the operation has not been done here
	p.do("create configmap b") // and the small engine goes on
}

// TestShare checks that a link restores the same world.
func TestShare(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	p.must("boot", "seed", "9", "replicas", []any{map[string]any{"version": "1.36"}, map[string]any{"version": "1.35"}})
	p.must("do", "op", map[string]any{"line": "create -f a.yaml", "files": map[string]any{"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"}})
	p.do("tick 10s", "delete configmap a")
	data := at(p.must("query", "view", "log"), "data").(map[string]any)
	again := newPage(t)
	again.must("boot", "seed", data["seed"], "replicas", data["replicas"], "log", data["log"], "cursor", 2)
	again.must("redo")
	is.Equal(again.hash(), p.hash())
	txtar := at(p.must("query", "view", "export"), "data.txtar")
	imported := newPage(t)
	imported.must("boot", "scenario", txtar)
	rv := at(p.must("query", "view", "table", "resource", "configmaps"), "data.rv")
	is.Equal(at(imported.must("query", "view", "table", "resource", "configmaps"), "data.rv"), rv) // a scenario leads to the same store
}

// TestOpenSoak checks that a failed soak can be opened as a scenario, and shows the violated promise.
func TestOpenSoak(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	data, err := os.ReadFile("../../sim/soak/testdata/lost.txtar")
	is.NoErr(err)
	p := newPage(t)
	answer := p.send("boot", "scenario", string(data))
	is.Equal(answer["kind"], "ok")
	last := p.frames[len(p.frames)-1]
	is.Equal(at(last, "kind"), "check.fail")
	is.True(strings.Contains(fmt.Sprint(at(last, "text")), "expected promises kept: Reliable: "))
}

// FuzzHandle checks that no message makes an Engine panic, and that each message has exactly one response.
func FuzzHandle(f *testing.F) {
	f.Add([]byte(`{"v":1,"id":1,"kind":"boot","seed":"x"}`))
	f.Add([]byte(`{"v":1,"id":2,"kind":"do","op":{"line":"create cm a --from-literal k=v"}}`))
	f.Add([]byte(`{"v":1,"id":3,"kind":"query","view":"diff","resource":"configmaps","name":"a","from":"99999999999999999999"}`))
	f.Add([]byte(`{"v":1,"id":3,"kind":"schema","minor":"1.35","data":"AAAA"}`))
	f.Add([]byte(`{"v":1,"id":4,"kind":"boot","log":[{"line":"tick 1m"}],"cursor":-1,"replicas":[{"version":"1.99"}]}`))
	f.Add([]byte(`{"v":1,"id":5,"kind":"seek","n":-5}`))
	f.Add([]byte(`{"v":1,"id":6,"kind":"serve","cluster":{"bare":true,"nodes":2,"replicas":[{"version":"1.36"}]},"now":1}`))
	f.Add([]byte(`{"v":1,"id":7,"kind":"request","method":"POST","target":"/api/v1/namespaces?x=%","headers":[["",""]],"body":"{}"}`))
	f.Add([]byte(`{"v":1,"id":8,"kind":"treat","line":"lag 1 pods"}`))
	f.Fuzz(func(t *testing.T, msg []byte) {
		e := New()
		e.Handle([]byte(`{"v":1,"id":1,"kind":"boot","lesson":"first"}`))
		e.Handle([]byte(`{"v":1,"id":1,"kind":"serve","cluster":{"bare":true}}`))
		for _, raw := range e.Handle(msg) {
			var got struct {
				Kind  string
				Error failure
			}
			if err := json.Unmarshal(raw, &got); err != nil || got.Error.Fatal && strings.Contains(got.Error.Text, "stopped") {
				t.Errorf("%s is answered %.300s", msg, raw)
			}
		}
	})
}
