package fake_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/controller"
)

// watched returns a server of a test that may fail, that test, and a client.
func watched(t *testing.T, o ...fake.Options) (*test, *fake.Server, client) {
	t.Helper()
	bad := &test{}
	srv := fake.RunT(bad, o...)
	t.Cleanup(srv.Close)
	return bad, srv, client{t, srv}
}

// atMost returns a check that fails if there are more than n objects of a resource.
func atMost(n int, resource string) func(fake.View) error {
	return func(view fake.View) error {
		if all := view.List(resource, ""); len(all) > n {
			return fmt.Errorf("there are %d: %s and %s", len(all), all[0].Name(), all[1].Name())
		}
		return nil
	}
}

func TestNever(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	bad, srv, c := watched(t)
	srv.Never("two secrets", atMost(1, "secrets"))
	srv.Always("the namespace default", func(view fake.View) error {
		if view.Get("namespaces", "", "default") == nil {
			return errors.New("it is gone")
		}
		return nil
	})
	c.do("POST", secretsPath, `{"metadata":{"name":"a"}}`)
	is.Equal(bad.failed, false)
	c.do("POST", secretsPath, `{"metadata":{"name":"b"}}`)
	is.True(bad.failed) // at once
	log := bad.log.String()
	is.True(strings.Contains(log, "kubesim: never two secrets: there are 2: a and b"))
	is.True(strings.Contains(log, "after kubernetes-admin create secrets default/b, revision 4006 at 2026-01-01T00:00:00Z"))
	c.do("POST", secretsPath, `{"metadata":{"name":"c"}}`)
	is.Equal(bad.log.String(), log) // once
	is.Equal(len(srv.Broken()), 1)
}

// TestNeverFromTheBeginning checks that a violation that exists at the beginning is found at once, even without a test.
func TestNeverFromTheBeginning(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv, err := fake.New()
	is.NoErr(err)
	defer srv.Close()
	srv.Never("namespaces", atMost(1, "namespaces"))
	is.Equal(len(srv.Broken()), 1)
	is.True(strings.Contains(srv.Broken()[0].Error(), "never namespaces: there are 4: default and kube-node-lease\n    from the beginning"))
}

// TestNeverSeesEachWrite checks that a promise sees intermediate states that no client sees, and the writes that led to
// them.
func TestNeverSeesEachWrite(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	_, srv, c := watched(t)
	var lines []string
	srv.Always("x", func(view fake.View) error {
		if w := view.Write; w != nil {
			lines = append(lines, w.Verb+" "+w.Resource+" "+w.Name+"\n"+w.Diff())
		}
		return nil
	})
	c.do("POST", mapsPath, `{"metadata":{"name":"a"},"data":{"x":"1","y":"1"}}`)
	c.mergePatch(mapsPath+"/a", `{"data":{"x":"2","y":null}}`)
	c.do("DELETE", mapsPath+"/a", "")
	is.Equal(lines, []string{"create configmaps a\nit is new", "patch configmaps a\ndata.x: \"1\" → \"2\"\ndata.y: \"1\" → -",
		"delete configmaps a\nit is gone"})
}

// TestView checks that a resource may be given with or without its group.
func TestView(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	_, srv, c := watched(t)
	c.do("POST", "/apis/apps/v1/namespaces/default/deployments", `{"metadata":{"name":"web"},"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	is.NoErr(srv.Eventually("x", 0, func(view fake.View) error {
		for _, name := range []string{"deployments", "deployments.apps"} {
			is.Equal(view.Get(name, "default", "web").Int64("spec", "replicas"), int64(2))
			is.Equal(len(view.List(name, "other")), 0)
		}
		is.Equal(view.Get("deployments.web", "default", "web"), nil)
		type deployment struct {
			Spec struct{ Replicas int }
		}
		is.Equal(fake.To[deployment](view.List("deployments", "")...)[0].Spec.Replicas, 2)
		n := 0
		view.Each(func(resource string, _ fake.Object) bool {
			if resource == "deployments.apps" {
				n++
			}
			return true
		})
		is.Equal(n, 1)
		return nil
	}))
}

func TestEventually(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	bad, srv, c := watched(t, fake.Options{Controllers: controller.All, Nodes: 1})
	c.do("POST", podsPath, `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	running := func(view fake.View) error {
		if phase := view.Get("pods", "default", "a").String("status", "phase"); phase != "Running" {
			return fmt.Errorf("it is %s", phase)
		}
		return nil
	}
	began := srv.Clock.Now()
	is.NoErr(srv.Eventually("the pod runs", time.Minute, running))
	is.True(srv.Clock.Now().Sub(began) < 5*time.Second) // as soon as it was true
	err := srv.Eventually("two pods", time.Minute, func(fake.View) error { return errors.New("there is one") })
	is.Equal(err.Error(), "kubesim: eventually two pods: not after 1m0s: there is one")
	is.True(strings.Contains(bad.log.String(), err.Error()))
}

// TestEventuallyInBubble checks that Eventually does not have to advance the clock in a bubble.
func TestEventuallyInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		_, srv, c := watched(t, fake.Options{Clock: clock.System{}})
		began := time.Now()
		go func() {
			time.Sleep(time.Hour)
			c.do("POST", mapsPath, `{"metadata":{"name":"a"}}`)
		}()
		one := func(view fake.View) error {
			if view.Get("configmaps", "default", "a") == nil {
				return errors.New("not there")
			}
			return nil
		}
		is.NoErr(srv.Eventually("x", 2*time.Hour, one))
		is.Equal(time.Since(began), time.Hour)
	})
}

const secretsPath = "/api/v1/namespaces/default/secrets"

// TestLivelock checks that two clients that fight over a field are reported with the value that each of them sets, and
// then stopped.
func TestLivelock(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	bad, srv, c := watched(t, fake.Options{MaxWritesPerInstant: 20})
	c.do("POST", mapsPath, `{"metadata":{"name":"a"}}`)
	fight := func(color string) int {
		code, _ := c.as(color, "PATCH", mapsPath+"/a", "application/merge-patch+json", `{"data":{"color":"`+color+`"}}`)
		return code
	}
	for range 9 {
		is.Equal(fight("red"), 200)
		is.Equal(fight("blue"), 200)
	}
	is.Equal(bad.failed, false)
	srv.Clock.Advance(time.Second)
	for range 9 {
		fight("red")
		fight("blue")
	}
	is.Equal(bad.failed, false) // time has passed
	for range 5 {
		fight("red")
		fight("blue")
	}
	is.True(bad.failed)
	log := bad.log.String()
	is.True(strings.Contains(log, "a livelock: configmaps default/a was written 20 times while time stood still at 2026-01-01T00:00:01Z"))
	is.True(strings.Contains(log, "red (kubernetes-admin) patch configmaps default/a, revision"))
	is.True(strings.Contains(log, `data.color: "red" → "blue"`))
	is.True(strings.Contains(log, `data.color: "blue" → "red"`))
	is.Equal(fight("red"), 429) // time can advance
	is.Equal(strings.Count(log, "livelock"), 1)
}

// TestHealAfterLivelock checks that Heal starts a controller that a livelock stopped, and that the next livelock is found, too.
func TestHealAfterLivelock(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	bad, srv, c := watched(t, fake.Options{MaxWritesPerInstant: 20, Controllers: controller.All})
	exists := func() bool {
		code, _ := c.do("GET", mapsPath+"/a", "")
		return code == 200
	}
	orphan := `{"metadata":{"name":"a","ownerReferences":[{"apiVersion":"v1","kind":"Secret","name":"gone","uid":"1"}]}}`
	for n := range 2 {
		for range 20 {
			c.do("POST", mapsPath, orphan)
		}
		is.True(exists()) // the garbage collector is stopped
		is.Equal(strings.Count(bad.log.String(), "livelock"), n+1)
		srv.Heal()
		is.NoErr(srv.Settle(t.Context()))
		is.True(!exists())
	}
}

// TestLivelockOfNames checks that a livelock is found even if objects that are created, deleted and created again have
// new names each time.
func TestLivelockOfNames(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	bad, _, c := watched(t, fake.Options{MaxWritesPerInstant: 20})
	for i := range 30 {
		name := fmt.Sprint("a", i)
		c.do("POST", mapsPath, `{"metadata":{"name":"`+name+`"}}`)
		c.do("DELETE", mapsPath+"/"+name, "")
	}
	is.True(bad.failed)
	is.True(strings.Contains(bad.log.String(), "a livelock: configmaps default/a"))
}

// TestLivelockByDefault checks that by default, writes are counted only in a bubble, in which time advances when all
// goroutines wait.
func TestLivelockByDefault(t *testing.T) {
	write := func(c client) (code int) {
		c.do("POST", mapsPath, `{"metadata":{"name":"a"}}`)
		for i := range 1100 {
			code, _ = c.as("w", "PATCH", mapsPath+"/a", "application/merge-patch+json", fmt.Sprintf(`{"data":{"n":"%d"}}`, i))
		}
		return code
	}
	t.Run("clock of the test", func(t *testing.T) {
		bad, _, c := watched(t, fake.Options{})
		is.New(t).Equal(write(c), 200)
		is.New(t).Equal(bad.failed, false)
	})
	t.Run("real time", func(t *testing.T) {
		bad, _, c := watched(t, fake.Options{Clock: clock.System{}})
		is.New(t).Equal(write(c), 200)
		is.New(t).Equal(bad.failed, false)
	})
	t.Run("bubble", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			bad, _, c := watched(t, fake.Options{Clock: clock.System{}})
			is.New(t).Equal(write(c), 429)
			is.New(t).True(strings.Contains(bad.log.String(), "a livelock: configmaps default/a was written 1000 times"))
		})
	})
}

// TestNoLivelock checks that creating many objects is not a livelock, nor is deleting them all.
func TestNoLivelock(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	bad, _, c := watched(t, fake.Options{MaxWritesPerInstant: 20})
	for i := range 50 {
		c.do("POST", mapsPath, fmt.Sprintf(`{"metadata":{"name":"a%d"}}`, i))
	}
	c.do("DELETE", mapsPath, "")
	for i := range 50 {
		c.do("POST", mapsPath, fmt.Sprintf(`{"metadata":{"name":"a%d"}}`, i))
	}
	is.Equal(bad.log.String(), "")
}

func TestAtRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		bad, srv, c := watched(t, fake.Options{Clock: clock.System{}, Controllers: controller.All, Nodes: 2})
		c.do("POST", mapsPath, `{"metadata":{"name":"a"}}`)
		go func() {
			for range 10 { // a client writes for a while
				time.Sleep(10 * time.Second)
				c.mergePatch(mapsPath+"/a", `{"data":{"now":"`+time.Now().String()+`"}}`)
			}
		}()
		srv.AtRest(bad, 24*time.Hour)
		is.Equal(bad.log.String(), "") // nodes renew their leases, which does not count

		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 20 {
				time.Sleep(time.Hour)
				c.mergePatch(mapsPath+"/a", `{"data":{"now":"`+time.Now().String()+`"}}`)
			}
		}()
		srv.AtRest(bad, 24*time.Hour)
		is.True(strings.Contains(bad.log.String(), "kubesim: not at rest: 20 writes in 24h0m0s without an external change"))
		is.True(strings.Contains(bad.log.String(), "patch configmaps default/a"))
		<-done

		go func() {
			for range 100 {
				time.Sleep(10 * time.Second)
				c.mergePatch(mapsPath+"/a", `{"data":{"now":"`+time.Now().String()+`"}}`)
			}
		}()
		bad.log.Reset()
		srv.AtRest(bad, time.Hour)
		is.True(strings.Contains(bad.log.String(), "there are still writes after 10m0s"))
		time.Sleep(time.Hour)
	})
}

func TestFailOnWarning(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	pod := `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}],"nodename":"n"}}`
	good, _, c := watched(t)
	c.do("POST", podsPath, pod)
	is.Equal(good.failed, false)
	bad, _, c := watched(t, fake.Options{FailOnWarning: true})
	c.do("POST", podsPath, strings.Replace(pod, `,"nodename":"n"`, "", 1))
	is.Equal(bad.failed, false)
	c.do("DELETE", podsPath+"/a?gracePeriodSeconds=0", "")
	c.do("POST", podsPath, pod)
	is.True(strings.Contains(bad.log.String(), `a warning to a client without a User-Agent about create pods default/a: unknown field "spec.nodename"`))
}
