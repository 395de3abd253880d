package fake_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

// The guarantees of a watch (API concepts, "Efficient detection of changes") are functions, each of which returns how a
// stream violates the guarantee. They are checked over random histories.

// open opens a watch.
func (c client) open(path string) *stream {
	c.t.Helper()
	res := c.get(context.Background(), path)
	if res.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(res.Body)
		c.t.Fatalf("watch %s: %d %s", path, res.StatusCode, body)
	}
	scan := bufio.NewScanner(res.Body)
	scan.Buffer(nil, 1<<20)
	return &stream{c.t, res.Body, scan}
}

// rest returns the events until the end of the stream.
func (s *stream) rest() []event {
	s.t.Helper()
	var all []event
	for {
		e, ok := s.next()
		if !ok {
			return all
		}
		all = append(all, e)
	}
}

func (e event) meta() object.Object { return object.Object(e.Object) }

func (e event) rev() uint64 {
	n, _ := strconv.ParseUint(e.meta().ResourceVersion(), 10, 64)
	return n
}

func (e event) bookmark() bool { return e.Type == "BOOKMARK" }

func (e event) key() string { return e.meta().Namespace() + "/" + e.meta().Name() }

// changes returns the events without bookmarks.
func changes(events []event) []event {
	var all []event
	for _, e := range events {
		if !e.bookmark() {
			all = append(all, e)
		}
	}
	return all
}

// print formats an event for a comparison.
func (e event) print() string { return e.Type + " " + item(e.meta()) }

// equalStreams returns an error that describes the first difference of two streams.
func equalStreams(got, want []event) error {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Errorf("event %d is missing: %s", i, want[i].print())
		case i >= len(want):
			return fmt.Errorf("event %d should not be there: %s", i, got[i].print())
		case got[i].print() != want[i].print():
			return fmt.Errorf("event %d is %s, not %s", i, got[i].print(), want[i].print())
		}
	}
	return nil
}

// ordered checks that events are in the order of their revisions.
func ordered(events []event) error {
	last := uint64(0)
	for i, e := range events {
		if e.rev() < last {
			return fmt.Errorf("event %d has revision %d after %d", i, e.rev(), last)
		}
		last = e.rev()
	}
	return nil
}

// unique checks that no event is delivered twice.
func unique(events []event) error {
	seen := map[uint64]bool{}
	for i, e := range changes(events) {
		if seen[e.rev()] {
			return fmt.Errorf("event %d is the second one of revision %d", i, e.rev())
		}
		seen[e.rev()] = true
	}
	return nil
}

// monotone checks that the revisions of each object increase, and that it is added before it is changed or deleted.
func monotone(events []event) error {
	there, last := map[string]bool{}, map[string]uint64{}
	for i, e := range changes(events) {
		if e.rev() <= last[e.key()] {
			return fmt.Errorf("event %d takes %s from revision %d to %d", i, e.key(), last[e.key()], e.rev())
		}
		last[e.key()] = e.rev()
		if there[e.key()] == (e.Type == "ADDED") {
			return fmt.Errorf("event %d is %s of %s, which was there: %v", i, e.Type, e.key(), there[e.key()])
		}
		there[e.key()] = e.Type != "DELETED"
	}
	return nil
}

// reliable checks that there is no gap: the stream consists of every write of the list after a revision.
func reliable(events []event, m *model, list string, after uint64) error {
	return equalStreams(changes(events), m.events(list, after, func(object.Object) bool { return true }))
}

// filtered checks that an object that begins to match is added, and that one that no longer matches is deleted, with
// its last matching state.
func filtered(events []event, m *model, list string, after uint64, match func(object.Object) bool) error {
	return equalStreams(changes(events), m.events(list, after, match))
}

// events returns the events that a watch of a list must deliver after a revision.
func (m *model) events(list string, after uint64, match func(object.Object) bool) []event {
	var all []event
	before := map[string]object.Object{}
	for _, w := range m.writes {
		if !inList(list, w.path) {
			continue
		}
		old := before[w.path]
		before[w.path] = w.obj
		was, now := old != nil && match(old), w.obj != nil && match(w.obj)
		e := event{Type: "MODIFIED", Object: w.obj}
		switch {
		case w.rev <= after || !was && !now:
			continue
		case !was:
			e.Type = "ADDED"
		case !now:
			gone := old.Copy()
			gone.Set(rev(w.rev), "metadata", "resourceVersion")
			e = event{Type: "DELETED", Object: gone}
		}
		all = append(all, e)
	}
	return all
}

// bookmarkable checks that nothing older than a bookmark is delivered after it, and nothing newer before it.
func bookmarkable(events []event) error {
	last, marks := uint64(0), 0
	for i, e := range events {
		switch {
		case e.bookmark():
			marks++
			if e.rev() < last {
				return fmt.Errorf("event %d is a bookmark at %d, after revision %d", i, e.rev(), last)
			}
		case e.rev() <= last && marks > 0:
			return fmt.Errorf("event %d has revision %d, and %d was marked or sent before", i, e.rev(), last)
		}
		last = max(last, e.rev())
	}
	if marks == 0 {
		return errors.New("there is no bookmark")
	}
	return nil
}

// initialEventsEnd checks that the initial state ends with exactly one marked bookmark, and that only ADDED precedes
// it.
func initialEventsEnd(events []event) error {
	ends := 0
	for i, e := range events {
		if e.bookmark() && e.meta().Annotations()["k8s.io/initial-events-end"] == "true" {
			ends++
		} else if ends == 0 && e.Type != "ADDED" {
			return fmt.Errorf("event %d is %s, before the end of the state", i, e.Type)
		}
	}
	if ends != 1 {
		return fmt.Errorf("the end of the state is marked %d times", ends)
	}
	return nil
}

// playWatched plays random operations with some time between them, so that there are bookmarks among the events.
func (c client) playWatched(random *rand.Rand, m *model, rounds int) {
	for range rounds {
		m.writes = append(m.writes, c.play(randomOps(random, 30)).writes...)
		c.srv.Clock.Advance(25 * time.Second)
	}
}

// TestWatchPromises checks that a watch from before the first write keeps every guarantee about order and completeness.
func TestWatchPromises(t *testing.T) {
	seeds(t, 5, func(t *testing.T, seed uint64) {
		is := is.New(t)
		c := client{t, fake.RunT(t, fake.Options{Seed: seed, Bare: true})}
		begin := c.srv.Revision()
		watches := make([]*stream, len(randomLists))
		for i, path := range randomLists {
			watches[i] = c.open(path + "?watch=1&allowWatchBookmarks=1&resourceVersion=" + rev(begin))
		}
		m := &model{}
		c.playWatched(rand.New(rand.NewPCG(seed, 7)), m, 8)
		c.srv.Close()
		for i, path := range randomLists {
			events := watches[i].rest()
			is.NoErr(ordered(events))
			is.NoErr(unique(events))
			is.NoErr(monotone(events))
			is.NoErr(reliable(events, m, path, begin))
			is.NoErr(bookmarkable(events))
		}
	})
}

// TestWatchResumable checks that a watch that begins at the revision of any event or bookmark continues with the next
// event.
func TestWatchResumable(t *testing.T) {
	seeds(t, 3, func(t *testing.T, seed uint64) {
		is := is.New(t)
		c := client{t, fake.RunT(t, fake.Options{Seed: seed, Bare: true})}
		path := randomLists[0]
		whole := c.open(path + "?watch=1&allowWatchBookmarks=1&resourceVersion=" + rev(c.srv.Revision()))
		m := &model{}
		c.playWatched(rand.New(rand.NewPCG(seed, 8)), m, 6)
		c.srv.Close()
		events := whole.rest()
		resumed := make([]*stream, len(events))
		for i, e := range events {
			resumed[i] = c.open(path + "?watch=1&resourceVersion=" + rev(e.rev()))
		}
		c.srv.Close()
		for i := range events {
			is.NoErr(equalStreams(resumed[i].rest(), changes(events[i+1:]))) // no event is lost or duplicated
		}
	})
}

// TestWatchFiltered checks that a watch with a selector sees objects added and deleted as they begin and cease to
// match.
func TestWatchFiltered(t *testing.T) {
	seeds(t, 5, func(t *testing.T, seed uint64) {
		is := is.New(t)
		c := client{t, fake.RunT(t, fake.Options{Seed: seed, Bare: true})}
		begin := c.srv.Revision()
		filters := []struct {
			query string
			match func(object.Object) bool
		}{
			{"labelSelector=app%3Dl0", func(o object.Object) bool { return o.Labels()["app"] == "l0" }},
			{"labelSelector=app!%3Dl0", func(o object.Object) bool { return o.Labels()["app"] != "l0" }},
			{"labelSelector=app", func(o object.Object) bool { return o.Labels()["app"] != "" }},
			{"labelSelector=p+in+(1,2),!app", func(o object.Object) bool {
				return (o.Labels()["p"] == "1" || o.Labels()["p"] == "2") && o.Labels()["app"] == ""
			}},
			{"fieldSelector=metadata.name%3Do1", func(o object.Object) bool { return o.Name() == "o1" }},
			{"fieldSelector=metadata.name!%3Do1", func(o object.Object) bool { return o.Name() != "o1" }},
		}
		var watches []*stream
		for _, path := range randomLists {
			for _, f := range filters {
				watches = append(watches, c.open(path+"?watch=1&resourceVersion="+rev(begin)+"&"+f.query))
			}
		}
		m := &model{}
		c.playWatched(rand.New(rand.NewPCG(seed, 9)), m, 5)
		c.srv.Close()
		for i, path := range randomLists {
			for j, f := range filters {
				events := watches[i*len(filters)+j].rest()
				is.NoErr(filtered(events, m, path, begin, f.match))
				is.NoErr(monotone(events))
				is.NoErr(unique(events))
			}
		}
	})
}

// TestWatchInitialEvents checks that a watch that requests the initial events gets them, then once the bookmark that
// ends them, and then every event.
func TestWatchInitialEvents(t *testing.T) {
	seeds(t, 5, func(t *testing.T, seed uint64) {
		is := is.New(t)
		c := client{t, fake.RunT(t, fake.Options{Seed: seed, Bare: true})}
		random := rand.New(rand.NewPCG(seed, 10))
		m := &model{}
		c.playWatched(random, m, 3)
		path, at := randomLists[0], c.srv.Revision()
		var watches []*stream
		for _, version := range []string{"", "0", rev(at - 5)} {
			watches = append(watches, c.open(path+"?watch=1&sendInitialEvents=1&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1&resourceVersion="+version))
		}
		c.playWatched(random, m, 3)
		c.srv.Close()
		for _, w := range watches {
			events := w.rest()
			is.NoErr(initialEventsEnd(events))
			var state []string
			for len(events) > 0 && !events[0].bookmark() {
				state = append(state, item(events[0].meta()))
				events = events[1:]
			}
			is.Equal(state, m.at(path, at))         // the state when the watch began
			is.NoErr(reliable(events, m, path, at)) // and the events after it
			is.NoErr(bookmarkable(events))
		}
	})
}

// TestMinRequestTimeout checks that a watch without a timeout of its own ends between MinRequestTimeout and twice that
// time.
func TestMinRequestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		for least, ends := range map[time.Duration]bool{10 * time.Second: true, -1: false} {
			srv := fake.RunT(t, fake.Options{Clock: clock.NewManual(clock.Epoch()), MinRequestTimeout: least})
			res := client{t, srv}.get(t.Context(), "/api/v1/pods?watch=1")
			ended := make(chan error, 1)
			go func() {
				_, err := io.ReadAll(res.Body)
				ended <- err
			}()
			srv.Clock.Advance(9 * time.Second)
			synctest.Wait()
			is.Equal(len(ended), 0)
			srv.Clock.Advance(11 * time.Second)
			srv.Clock.Advance(365 * 24 * time.Hour)
			synctest.Wait()
			is.Equal(len(ended) == 1, ends)
			res.Body.Close()
			<-ended
		}
	})
}
