package scenario

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestSeen checks that "seen" stands for the newest revision that a client has received, of an object or on a watch
// with the same scope.
func TestSeen(t *testing.T) {
	t.Parallel()
	w := world(t, Options{})
	do(t, w, "create cm a", "replace cm a --rv seen --set data.k=v", "delete cm b --precondition-rv seen") // b has not been seen
	do(t, w, "create cm b --as bob", "patch cm b --type json -p '[{op: add, path: /data, value: {k: v}}]' --rv seen")
	holds(t, w, "status 200", `path contains /b`) // only bob has received it, so the patch is not based on a revision
	do(t, w, "patch cm b -p '{data: {k: w}}' --as bob --rv seen")
	holds(t, w, "status 409 Conflict")
	do(t, w, "watch cm --name w --rv 4004", "stop w", "watch cm --name x --rv seen --send-initial-events true")
	holds(t, w, "path contains resourceVersion=4008", "not path contains sendInitialEvents") // it continues at the last revision of w
	do(t, w, "get cm a --rv -20")
	holds(t, w, "path contains resourceVersion=3988")
	do(t, w, "! get cm a --rv +1")
	holds(t, w, "path contains resourceVersion=4009")
}

// TestPage checks that page follows the client's last list until there is no further page.
func TestPage(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	w := world(t, Options{})
	do(t, w, "create cm a", "create cm b", "create cm c")
	r := do(t, w, "page", "list cm --limit 2", "page --as bob", "page", "page")
	is.Equal(r[0].Lines, []string{"   you has no page to turn"})
	is.Equal(r[2].Lines, []string{"   bob has no page to turn"})
	is.True(strings.Contains(r[3].Lines[0], "1 item: c"))
	is.Equal(r[4].HTTP, nil) // the previous page was the last one
}

// TestOldestWatch checks that a client's oldest watch ends on "stop --as", or when a new watch exceeds --at-most.
func TestOldestWatch(t *testing.T) {
	t.Parallel()
	w := world(t, Options{})
	do(t, w, "watch cm --name a", "watch cm --name b", "watch cm --name other --as bob", "stop --as you")
	holds(t, w, "watch/a closed", "watch/b open", "watch/other open")
	do(t, w, "watch cm --name c --at-most 1", "watch cm --name d --at-most 2")
	holds(t, w, "watch/b closed", "watch/c open", "watch/d open")
}

// TestPause checks that time passes in one step during a pause.
func TestPause(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	w := world(t, Options{})
	r := do(t, w, "watch cm --bookmarks --name w --timeout 600", "pause 5m", "tick 5m")
	is.True(strings.HasPrefix(r[1].Lines[0], "-- 00:05:00 (+5m0s)")) // all events arrive at the end
	is.True(!strings.HasPrefix(r[2].Lines[0], "-- 00:10:00"))        // otherwise events arrive one by one
}

// TestMove checks that a fork, and a cluster loaded from an archive, continue like the original cluster, without its
// open requests and watches.
func TestMove(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"fork", "reload"} {
		w := world(t, Options{})
		do(t, w, "create cm a", "watch cm --name w", "list cm --rv 4009 &", line, "create cm b", "tick 1m")
		holds(t, w, "count cm == 2", "watch/w closed", "not watch/w saw ADDED b", "not waiting")
		if _, err := w.Do(Op{Name: "informer", Args: []string{"i", "cm"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Do(Op{Name: line}); err == nil {
			t.Errorf("%s: the timers of an informer would be lost", line)
		}
	}
}

// TestPromises checks that promises are checked from the operation record on, and that late delivery counts only after
// heal.
func TestPromises(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	w := world(t, Options{})
	_, _, err := w.Holds("promises kept")
	is.True(err != nil) // nothing has been recorded
	do(t, w, "create cm before", "record", "watch cm --name w --rv 0 --initial-events", "create cm a", "list cm", "delete cm --all")
	do(t, w, "hold you", "create cm c")
	holds(t, w, "promises kept")
	do(t, w, "heal")
	holds(t, w, "promises kept", "watch/w saw ADDED c")
	do(t, w, "fault on watch configmaps event=ADDED do drop", "create cm lost")
	holds(t, w, "promises kept") // undecidable before heal
	do(t, w, "heal")
	_, why, err := w.Holds("promises kept")
	is.NoErr(err)
	is.True(strings.HasPrefix(why, "Bookmarkable: ") || strings.HasPrefix(why, "Delivered: "))
}

// TestRequests checks that Requests returns the requests that an operation would send, and that a caller can report
// responses from another server.
func TestRequests(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	w := world(t, Options{})
	next := func(line string) *Request {
		op, err := Parse(line)
		is.NoErr(err)
		list, err := w.Requests(op, 7000)
		is.NoErr(err)
		is.Equal(len(list), 1)
		return list[0]
	}
	q := next("create cm a")
	is.Equal(q.Method+" "+q.Path, "POST /api/v1/namespaces/default/configmaps")
	body := []byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"default","resourceVersion":"6000"}}`)
	q.Answered(201, body)
	is.NoErr(q.Call.ReadAnswer(201, body))
	is.Equal(q.Call.Name+" "+q.Call.Verb, "a create")
	is.Equal(next("replace cm a --rv seen").Call.Based, uint64(6000)) // the client has received it
	is.Equal(next("list cm --rv -20").Call.Version, "6980")
	q = next("watch cm --rv seen")
	event := []byte(`{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"6500"}}}`)
	q.Saw(event)
	is.NoErr(q.Stream.ReadEvent(event, 1))
	is.Equal(next("watch cm --rv seen").Stream.Version, "6500") // it continues at that revision
	is.Equal(w.Cluster().Revision(), uint64(4004))              // the World is unchanged
}
