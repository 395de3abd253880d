package fake_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/object"
)

// TestFaultExpiredWatch checks that a watch gets an expired revision as an event in its stream, and a Gone as the
// status of the response.
func TestFaultExpiredWatch(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, c client) {
		c.srv.Faults.Add(fault.On("watch", "configmaps").Times(1).Expired(), fault.On("watch", "configmaps").Times(1).Gone())
		w := c.watch("")
		is.Equal(w.must("ERROR").String("reason"), "Expired")
		_, more := w.next()
		is.True(!more) // the stream is over
		code, _, _ := answer(t, c.srv, "GET", mapsPath+"?watch=1", "")
		is.Equal(code, http.StatusGone)
	})
}

// names reads n events and returns them in the form TYPE:name.
func (s *stream) names(n int) string {
	s.t.Helper()
	var words []string
	for range n {
		e, ok := s.next()
		if !ok {
			words = append(words, "end")
			break
		}
		words = append(words, e.Type+":"+object.Object(e.Object).Name())
	}
	return strings.Join(words, " ")
}

func TestFaultEvents(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, c client) {
		slow, fast := c.watch("&resourceVersion="+rev(c.srv.Revision())), c.watch("&resourceVersion="+rev(c.srv.Revision()))
		c.srv.Faults.Add(
			fault.On("watch", "configmaps").Name("lost").Nth(1).Drop(), // of the first watch only
			fault.On("watch", "configmaps").Name("late").Nth(1).Delay(time.Second),
		)
		start := time.Now()
		for _, name := range []string{"lost", "late", "next"} {
			c.create(name)
		}
		is.Equal(fast.names(3), "ADDED:lost ADDED:late ADDED:next")
		is.Equal(time.Since(start), time.Duration(0))
		is.Equal(slow.names(2), "ADDED:late ADDED:next") // in order, one is lost
		is.Equal(time.Since(start), time.Second)         // the events after the late one wait for it
	})
}

func TestFaultHold(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, c client) {
		w := c.watch("&resourceVersion=" + rev(c.srv.Revision()))
		c.srv.Faults.Add(fault.On("watch", "configmaps").Name("a").Hold(), fault.On("watch", "configmaps").Name("c").Hold())
		for _, name := range []string{"a", "b", "c", "d"} {
			c.create(name)
		}
		got := ""
		seen := make(chan bool)
		go func() {
			defer close(seen)
			for range 2 {
				got += " " + w.names(1)
			}
		}()
		time.Sleep(time.Hour / 4)
		is.Equal(got, "") // no event overtakes a held one
		c.srv.Faults.Release()
		<-seen
		is.Equal(got, " ADDED:a ADDED:b") // until the next held event
		c.srv.Faults.Clear()
		is.Equal(w.names(2), "ADDED:c ADDED:d") // without faults nothing is held
	})
}

// TestFaultInitialEvents checks that faults also apply to the initial state of a watch.
func TestFaultInitialEvents(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, c client) {
		c.create("a")
		c.create("b")
		c.srv.Faults.Add(fault.On("watch", "configmaps").Event("ADDED").Nth(2).Close())
		w := c.watch("")
		is.Equal(w.names(2), "ADDED:a end")
	})
}

func TestFaultClose(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, c client) {
		w := c.watch("&resourceVersion=" + rev(c.srv.Revision()))
		c.srv.Faults.Add(fault.On("watch", "configmaps").Where("data.k").Became("data.k").Close())
		c.create("a")
		code, _ := c.do("PUT", mapsPath+"/a", `{"metadata":{"name":"a"},"data":{"k":"v"}}`)
		is.Equal(code, http.StatusOK)
		is.Equal(w.names(2), "ADDED:a end") // the stream ends before the event
	})
}

// TestFaultStall checks that a stalled stream delivers nothing: no event, no bookmark, no end.
func TestFaultStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
		c := client{t, srv}
		c.srv.Faults.Add(fault.On("watch", "configmaps").Name("a").Stall())
		w := c.watch("&allowWatchBookmarks=true&timeoutSeconds=600&resourceVersion=" + rev(c.srv.Revision()))
		c.create("b")
		is.Equal(w.names(1), "ADDED:b")
		c.create("a")
		ended := false
		go func() { w.next(); ended = true }()
		time.Sleep(7 * 24 * time.Hour)
		c.create("c")
		synctest.Wait()
		is.True(!ended) // for a week
		srv.Close()
		synctest.Wait()
		is.True(ended) // only when the server is closed
	})
}
