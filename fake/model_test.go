package fake_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

// naive is a model of ConfigMaps according to the API concepts: every past state, by revision.
type naive struct {
	t       *testing.T
	srv     *fake.Server
	rev     uint64
	oldest  uint64 // the oldest revision that may be requested
	expired bool   // whether the revisions before oldest are compacted
	states  map[uint64]contents
	log     []told
}

// contents are the ConfigMaps at one revision: the value and the revision of each ConfigMap by its name.
type contents map[string]entry

type entry struct {
	value string
	rev   uint64
}

// told is the event that a watch delivers for a commit.
type told struct {
	rev       uint64
	kind      string
	name      string
	new, last entry
}

const naivePath = "/api/v1/namespaces/default/configmaps"

// FuzzModel sends a server one request for every three bytes, and compares each response with that of the naive model:
// codes, values, revisions, pages of one snapshot, lists at past revisions, and the events of watches.
func FuzzModel(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x01\x00\x01\x02\x00\x00\x04\x00\x00\x06\x00\x00"))
	f.Add([]byte("\x00\x00\x00\x00\x01\x01\x00\x02\x02\x07\x00\x00\x04\x01\x00\x07\x01\x01\x08\x00\x02\x09\x00\x01"))
	f.Add([]byte("\x00\x00\x00\x03\x00\x01\x03\x00\x01\x05\x00\x01\x05\x00\x00\x0a\x00\x00\x00\x00\x00\x09\x00\x00\x08\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		n := &naive{t: t, srv: fake.RunT(t, fake.Options{Bare: true}), states: map[uint64]contents{}}
		n.rev = n.srv.Revision()
		n.oldest, n.states[n.rev] = n.rev, contents{}
		for ; len(data) >= 3 && len(n.log) < 60; data = data[3:] {
			n.step(data[0]%11, string('a'+rune(data[1]%4)), data[2])
		}
	})
}

// step executes one random request and checks the response. Some updates are based on an old revision and must fail.
func (n *naive) step(kind byte, name string, arg byte) {
	value := fmt.Sprint(arg % 3)
	now := n.states[n.rev]
	switch kind {
	case 0:
		n.write("POST", "", `{"metadata":{"name":"`+name+`"},"data":{"v":"`+value+`"}}`, name, value, 201, now[name].rev != 0, 409)
	case 1:
		n.write("PUT", "/"+name, `{"metadata":{"name":"`+name+`"},"data":{"v":"`+value+`"}}`, name, value, 200, now[name].rev == 0, 404)
	case 2: // based on a revision that may be out of date
		based := now[name].rev - uint64(arg/128)
		code := 409
		if now[name].rev == 0 {
			code, based = 404, 1
		}
		n.write("PUT", "/"+name, fmt.Sprintf(`{"metadata":{"name":%q,"resourceVersion":"%d"},"data":{"v":%q}}`, name, based, value), name, value, 200,
			based != now[name].rev, code)
	case 3:
		n.write("PATCH", "/"+name, `{"data":{"v":"`+value+`"}}`, name, value, 200, now[name].rev == 0, 404)
	case 4:
		n.write("DELETE", "/"+name, "", name, "", 200, now[name].rev == 0, 404)
	case 5:
		based, code := now[name].rev-uint64(arg/128), 409
		if now[name].rev == 0 {
			code = 404
		}
		n.write("DELETE", "/"+name, fmt.Sprintf(`{"preconditions":{"resourceVersion":"%d"}}`, based), name, "", 200, arg >= 128 || code == 404, code)
	case 6:
		n.get(name)
	case 7:
		n.pages(int(arg%3)+1, arg >= 128)
	case 8:
		n.past(n.oldest + uint64(arg)%(n.rev-n.oldest+1))
	case 9:
		n.watch(n.oldest + uint64(arg)%(n.rev-n.oldest+1))
	case 10:
		n.srv.Expire()
		n.oldest, n.expired = n.rev, true
	}
}

// ask sends a request and returns the code and the object of the response.
func (n *naive) ask(method, path, body string) (int, object.Object) {
	n.t.Helper()
	r, err := http.NewRequest(method, n.srv.URL()+naivePath+path, strings.NewReader(body))
	if err != nil {
		n.t.Fatal(err)
	}
	if r.Header.Set("Content-Type", "application/json"); method == "PATCH" {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	res, err := n.srv.Transport().RoundTrip(r)
	if err != nil {
		n.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		n.t.Fatal(err)
	}
	obj, err := object.Parse(text)
	if err != nil {
		n.t.Fatalf("%s %s: %d %s: %v", method, path, res.StatusCode, text, err)
	}
	return res.StatusCode, obj
}

// write sends a write that must either be rejected with the code refusal or succeed with the code done.
func (n *naive) write(method, path, body, name, value string, done int, refused bool, refusal int) {
	n.t.Helper()
	code, obj := n.ask(method, path, body)
	if refused {
		if code != refusal {
			n.t.Fatalf("%s %s %s: %d, not %d", method, path, body, code, refusal)
		}
		return
	}
	if code != done {
		n.t.Fatalf("%s %s %s: %d, not %d", method, path, body, code, done)
	}
	now := n.states[n.rev]
	last, there := now[name]
	if method != "DELETE" && there && last.value == value {
		n.is(obj, name, last) // nothing has changed, and no revision is used
		return
	}
	n.rev++
	next := maps.Clone(now)
	c := told{rev: n.rev, name: name, new: entry{value, n.rev}, last: last}
	switch {
	case method == "DELETE":
		delete(next, name)
		c.kind, c.new = "DELETED", entry{last.value, n.rev}
	case there:
		next[name], c.kind = c.new, "MODIFIED"
	default:
		next[name], c.kind = c.new, "ADDED"
	}
	n.states[n.rev] = next
	n.log = append(n.log, c)
	if method != "DELETE" {
		n.is(obj, name, c.new)
	}
	if now := n.srv.Revision(); now != n.rev {
		n.t.Fatalf("%s %s: the store is at %d, not %d", method, path, now, n.rev)
	}
}

// is compares an object with the expected values.
func (n *naive) is(obj object.Object, name string, want entry) {
	n.t.Helper()
	if got := fmt.Sprint(obj.Name(), obj.String("data", "v"), obj.ResourceVersion()); got != fmt.Sprint(name, want.value, want.rev) {
		n.t.Fatalf("%s is %s, not %v", name, got, want)
	}
}

func (n *naive) get(name string) {
	want, there := n.states[n.rev][name]
	switch code, obj := n.ask("GET", "/"+name, ""); {
	case there && code == 200:
		n.is(obj, name, want)
	case there || code != 404:
		n.t.Fatalf("get %s: %d", name, code)
	}
}

// pages lists the ConfigMaps page by page. All pages must show the state at the revision of the first page, whatever is
// written in the meantime.
func (n *naive) pages(limit int, writes bool) {
	at, want := n.rev, n.states[n.rev]
	var got []object.Object
	for token := ""; ; {
		code, list := n.ask("GET", fmt.Sprintf("?limit=%d&continue=%s", limit, token), "")
		if code != 200 || list.ResourceVersion() != fmt.Sprint(at) {
			n.t.Fatalf("a page: %d at %s, not at %d", code, list.ResourceVersion(), at)
		}
		got = append(got, list.Objects("items")...)
		if token = list.String("metadata", "continue"); token == "" {
			break
		}
		if writes {
			n.step(3, "b", byte(len(got)))
			n.step(4, "a", 0)
		}
	}
	n.same(got, want)
}

// same fails the test unless a list contains exactly the objects of want, sorted by name.
func (n *naive) same(got []object.Object, want contents) {
	n.t.Helper()
	names := slices.Sorted(maps.Keys(want))
	if len(got) != len(names) {
		n.t.Fatalf("a list has %d objects, not %d", len(got), len(names))
	}
	for i, name := range names {
		n.is(got[i], name, want[name])
	}
}

// past lists the state at a revision, and requests a compacted revision, which must fail.
func (n *naive) past(rev uint64) {
	code, list := n.ask("GET", fmt.Sprintf("?resourceVersion=%d&resourceVersionMatch=Exact", rev), "")
	if code != 200 {
		n.t.Fatalf("the list at %d, which is not forgotten: %d", rev, code)
	}
	n.same(list.Objects("items"), n.states[rev])
	if code, _ := n.ask("GET", fmt.Sprintf("?resourceVersion=%d&resourceVersionMatch=Exact", n.oldest-1), ""); n.expired && code != 410 {
		n.t.Fatalf("the list at %d, which is forgotten: %d", n.oldest-1, code)
	}
}

// watch reads all events since a revision.
func (n *naive) watch(rev uint64) {
	ctx, cancel := context.WithCancel(n.t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", fmt.Sprint(n.srv.URL(), naivePath, "?watch=1&resourceVersion=", rev), nil)
	if err != nil {
		n.t.Fatal(err)
	}
	res, err := n.srv.Transport().RoundTrip(r)
	if err != nil {
		n.t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)
	for _, c := range n.log {
		if c.rev <= rev {
			continue
		}
		line, err := lines.ReadBytes('\n')
		if err != nil {
			n.t.Fatal(err)
		}
		event, err := object.Parse(line)
		if err != nil || event.String("type") != c.kind {
			n.t.Fatalf("a watch from %d tells %s, not %s of %s at %d", rev, line, c.kind, c.name, c.rev)
		}
		n.is(event.Map("object"), c.name, c.new)
	}
}
