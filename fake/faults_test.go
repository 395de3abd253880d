package fake_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/fault"
)

const mapsPath = "/api/v1/namespaces/default/configmaps"

// ask sends a request with an ordinary http.Client under a User-Agent.
func ask(t *testing.T, srv *fake.Server, agent, method, path, body string) *http.Response {
	t.Helper()
	r, err := http.NewRequest(method, srv.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("User-Agent", agent)
	r.Header.Set("Content-Type", "application/json")
	res, err := (&http.Client{Transport: srv.Transport()}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// answer sends a request like ask, and reads the response.
func answer(t *testing.T, srv *fake.Server, method, path, body string) (code int, header http.Header, text string) {
	t.Helper()
	res := ask(t, srv, "operator/v1", method, path, body)
	defer res.Body.Close()
	return res.StatusCode, res.Header, read(t, res.Body)
}

const mapA = `{"metadata":{"name":"a"}}`

// TestFaultErrors checks that every error has the code, the reason and the headers that clients check.
func TestFaultErrors(t *testing.T) {
	for _, c := range []struct {
		fault  func(fault.Trigger) fault.Fault
		code   int
		retry  string
		answer string
	}{
		{fault.Trigger.Conflict, 409, "", `"message":"Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your changes to the latest version and try again","reason":"Conflict"`},
		{fault.Trigger.NotFound, 404, "", `"message":"configmaps \"a\" not found","reason":"NotFound"`},
		{fault.Trigger.TooManyRequests, 429, "1", "Too many requests, please try again later.\n"},
		{func(t fault.Trigger) fault.Fault { return t.TooManyRequests().RetryAfter(7) }, 429, "7", "Too many requests"},
		{fault.Trigger.Internal, 500, "", `"reason":"InternalError"`},
		{func(t fault.Trigger) fault.Fault { return t.Unavailable().RetryAfter(5) }, 503, "5", `"reason":"ServiceUnavailable","details":{"retryAfterSeconds":5}`},
		{fault.Trigger.Timeout, 504, "", `"reason":"Timeout"`},
		{fault.Trigger.Expired, 410, "", `"reason":"Expired"`},
		{fault.Trigger.Gone, 410, "", `"reason":"Gone"`},
	} {
		bubble(t, func(t *testing.T, is *is.I, cl client) {
			before := cl.create("a").ResourceVersion()
			f := c.fault(fault.On("update", "configmaps").Times(1))
			cl.srv.Faults.Add(f)
			t.Log(f)
			code, header, text := answer(t, cl.srv, "PUT", mapsPath+"/a", mapA)
			is.Equal(code, c.code)
			is.Equal(header.Get("Retry-After"), c.retry)
			is.True(strings.Contains(text, c.answer)) // the text that clients check
			_, text = cl.do("GET", mapsPath+"/a", "")
			is.Equal(cl.parse(text).ResourceVersion(), before) // nothing was written
			code, _, _ = answer(t, cl.srv, "PUT", mapsPath+"/a", mapA)
			is.Equal(code, http.StatusOK) // the fault occurs only once
		})
	}
}

func TestFaultTriggers(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, c client) {
		c.create("a")
		c.create("b")
		get := func(agent, path string) int {
			res := ask(t, c.srv, agent, "GET", path, "")
			res.Body.Close()
			return res.StatusCode
		}
		for text, want := range map[string][3]int{
			"on get configmaps client=operator/ do fail NotFound":                          {404, 200, 404},
			"on get configmaps name=b do fail NotFound":                                    {200, 200, 404},
			"on get configmaps namespace=kube-system do fail NotFound":                     {200, 200, 200},
			"on get configmaps user=system:nobody do fail NotFound":                        {200, 200, 200},
			"on get configmaps nth=2 do fail NotFound":                                     {200, 404, 200},
			"on get configmaps every=3 do fail NotFound":                                   {200, 200, 404},
			"on get configmaps where=metadata.name=b do fail NotFound":                     {200, 200, 404},
			"on get configmaps replica=2 do fail NotFound":                                 {200, 200, 200},
			"on get /api* do fail NotFound":                                                {200, 200, 200},
			"on get * at=request.arrived nth=2 do fail Conflict":                           {200, 409, 200},
			"on list,get configmaps times=1 do fail NotFound":                              {404, 200, 200},
			"on get configmaps times=1 p=0 do fail NotFound":                               {200, 200, 200},
			"on get configmaps until=1h nth=3 do fail ServiceUnavailable # with a comment": {200, 200, 503},
		} {
			plan, err := fault.Parse(text)
			is.NoErr(err)
			c.srv.Faults.Clear()
			c.srv.Faults.Add(plan...)
			got := [3]int{get("operator/v1", mapsPath+"/a"), get("kubelet/v1", mapsPath+"/a"), get("operator/v1", mapsPath+"/b")}
			t.Log(text)
			is.Equal(got, want) // a as operator, a as kubelet, b as operator
		}
	})
}

// TestFaultCondition checks that a fault can match the object that is to be written.
func TestFaultCondition(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, c client) {
		c.create("a")
		c.srv.Faults.Add(fault.On("create,update", "configmaps").Became("data.k=bad").Conflict())
		put := func(value string) int {
			code, _, _ := answer(t, c.srv, "PUT", mapsPath+"/a", `{"metadata":{"name":"a"},"data":{"k":"`+value+`"}}`)
			return code
		}
		is.Equal(put("good"), http.StatusOK)
		is.Equal(put("bad"), http.StatusConflict)
		code, _, _ := answer(t, c.srv, "POST", mapsPath, `{"metadata":{"name":"b"},"data":{"k":"bad"}}`)
		is.Equal(code, http.StatusConflict) // a create has no earlier object
	})
}

func TestFaultLatency(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, c client) {
		c.srv.Faults.Add(fault.On("create", "configmaps").Times(1).DelayRequest(2 * time.Second))
		c.srv.Faults.Add(fault.On("create", "configmaps").Nth(2).DelayAnswer(3 * time.Second))
		start, exists := time.Now(), 0
		go func() {
			time.Sleep(time.Second)
			exists, _ = c.do("GET", mapsPath+"/a", "")
		}()
		code, _, _ := answer(t, c.srv, "POST", mapsPath, mapA)
		is.Equal(code, http.StatusCreated)
		is.Equal(time.Since(start), 2*time.Second)
		synctest.Wait()
		is.Equal(exists, http.StatusNotFound) // a delayed request has no effect after one second

		start = time.Now()
		go func() {
			time.Sleep(time.Second)
			exists, _ = c.do("GET", mapsPath+"/b", "")
		}()
		code, _, _ = answer(t, c.srv, "POST", mapsPath, `{"metadata":{"name":"b"}}`)
		is.Equal(code, http.StatusCreated)
		is.Equal(time.Since(start), 3*time.Second)
		synctest.Wait()
		is.Equal(exists, http.StatusOK) // a request with a delayed response has taken effect
	})
}

// TestFaultNth checks that a fault counts the requests that were sent, including requests that were rejected before
// they reached the point of the fault.
func TestFaultNth(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	for text, want := range map[string]string{
		"on create configmaps nth=3 at=request.validated do fail Conflict": "422 201 409 201",
		"on create configmaps nth=3 do commit-then-fail Timeout":           "422 201 504 201",
		"on create configmaps nth=2 every=2 do commit-then-fail Timeout":   "422 504 201 504",
		"on create configmaps nth=1 do commit-then-fail Timeout":           "422 201 201 201", // the first one does not reach the point
		"on create configmaps nth=3 do fail InternalError":                 "422 201 500 201",
	} {
		c := client{t, fake.RunT(t)}
		plan, err := fault.Parse(text)
		is.NoErr(err)
		c.srv.Faults.Add(plan...)
		var got []string
		for _, name := range []string{"A b", "a", "b", "c"} {
			code, _ := c.do("POST", mapsPath, `{"metadata":{"name":"`+name+`"}}`)
			got = append(got, strconv.Itoa(code))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, want %s", text, s, want)
		}
	}
}

// TestFaultLatencyAbandoned checks that a delayed request is executed even if its client does not wait for it.
func TestFaultLatencyAbandoned(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, c client) {
		c.srv.Faults.Add(fault.On("create", "*").DelayRequest(time.Minute), fault.On("watch", "*").DelayAnswer(time.Minute))
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		for _, method := range []string{"POST", "GET"} {
			r, err := http.NewRequestWithContext(ctx, method, c.srv.URL()+mapsPath+"?watch=1", strings.NewReader(mapA))
			is.NoErr(err)
			r.Header.Set("Content-Type", "application/json")
			_, err = (&http.Client{Transport: c.srv.Transport()}).Do(r)
			is.True(errors.Is(err, context.DeadlineExceeded))
		}
		time.Sleep(2 * time.Minute)
		code, _ := c.do("GET", mapsPath+"/a", "")
		is.Equal(code, http.StatusOK)
	})
}

// TestFaultCommitThenFail checks that an ambiguous write is committed, and that its client gets an error. A write that
// fails by itself is not ambiguous.
func TestFaultCommitThenFail(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, c client) {
		c.srv.Faults.Add(fault.On("create", "configmaps").Times(1).CommitThenFail(fault.Timeout))
		code, _, _ := answer(t, c.srv, "POST", mapsPath, `{"metadata":{"name":"A b"}}`)
		is.Equal(code, http.StatusUnprocessableEntity)
		code, header, text := answer(t, c.srv, "POST", mapsPath, mapA)
		is.Equal(code, http.StatusGatewayTimeout)
		is.Equal(header.Get("Content-Type"), "application/json")
		is.Equal(c.parse(text).String("reason"), "Timeout")
		code, _, _ = answer(t, c.srv, "POST", mapsPath, mapA)
		is.Equal(code, http.StatusConflict) // the second try finds the object of the first
	})
}

func TestFaultTruncate(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, c client) {
		c.create("a")
		c.srv.Faults.Add(fault.On("list", "configmaps").Times(1).Truncate(20))
		res := ask(t, c.srv, "operator/v1", "GET", mapsPath, "")
		defer res.Body.Close()
		is.Equal(res.StatusCode, http.StatusOK)
		data, err := io.ReadAll(res.Body)
		is.Equal(err, io.ErrUnexpectedEOF) // the connection broke
		is.Equal(len(data), 20)
		_, _, text := answer(t, c.srv, "GET", mapsPath, "")
		is.Equal(len(c.parse(text).List("items")), 1) // the next response is complete
	})
}

func TestFaultHistory(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, c client) {
		c.create("z")
		old := c.create("a").ResourceVersion()
		c.create("y")
		c.srv.Faults.Add(fault.On("create", "configmaps").Name("b").Expire(), fault.On("create", "secrets").Compact())
		exact := mapsPath + "?limit=1&resourceVersionMatch=Exact&resourceVersion="
		code, _ := c.do("GET", exact+old, "")
		is.Equal(code, http.StatusOK)
		c.create("b")
		code, _ = c.do("GET", exact+old, "")
		is.Equal(code, http.StatusGone)                       // the create compacted the store and the caches
		w := c.watch("&resourceVersion=" + old)               // the caches, too
		is.Equal(w.must("ERROR").String("reason"), "Expired") // so the client has to start a new watch
		now := rev(c.srv.Revision())                          // the revision of the create itself is kept
		code, _ = c.do("GET", exact+now, "")                  // it can be read
		is.Equal(code, http.StatusOK)
		code, _, _ = answer(t, c.srv, "POST", "/api/v1/namespaces/default/secrets", mapA)
		is.Equal(code, http.StatusCreated)
		c.create("c")
		code, _ = c.do("GET", "/api/v1/namespaces?limit=1&resourceVersionMatch=Exact&resourceVersion="+now, "")
		is.Equal(code, http.StatusGone) // only the store is compacted: the cache of namespaces had no snapshot
	})
}

func TestFaultRestart(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, c client) {
		c.srv.Faults.Add(fault.On("create", "configmaps").Name("b").Restart(1))
		before := c.srv.Revision()
		w := c.watch("&resourceVersion=" + rev(before))
		c.create("a")
		c.create("b")
		is.Equal(w.names(3), "ADDED:a ADDED:b end") // the watch gets the commit that triggers the fault, then it ends
		w = c.watch("&resourceVersion=" + rev(before))
		is.Equal(w.must("ERROR").String("reason"), "Expired") // the history was removed
	})
}

// TestFaultErrorsOfPlans checks that faults that can never happen end the test, while a served simulator returns an
// error that describes the problem.
func TestFaultErrorsOfPlans(t *testing.T) {
	is := is.New(t)
	srv, err := fake.New()
	is.NoErr(err)
	defer srv.Close()
	func() {
		defer func() { is.True(strings.Contains(recover().(string), "its verb is watch")) }()
		srv.Faults.Add(fault.On("get", "pods").Drop())
	}()
	c := client{t, srv}
	for body, want := range map[string]string{
		"on get pods do drop":      "line 1: drop is for events of watches",
		"on get pods do restart 9": "there is no replica 9",
		"\non get pods do explode": `line 2: unknown action "explode"`,
	} {
		code, text := c.do("POST", "/sim/v1/faults", body)
		is.Equal(code, http.StatusBadRequest)
		is.True(strings.Contains(text, want)) // the problem and its line
	}
	code, text := c.do("POST", "/sim/v1/faults", "on update configmaps times=1 do fail Conflict\n# more\non get pods do fail Timeout")
	is.Equal(code, http.StatusOK)
	is.Equal(text, "on update configmaps times=1 do fail Conflict # legal, matched 0, happened 0\non get pods do fail Timeout # legal, matched 0, happened 0\n")
	c.create("a")
	code, _ = c.do("PUT", mapsPath+"/a", mapA)
	is.Equal(code, http.StatusConflict)
	_, text = c.do("GET", "/sim/v1/faults", "")
	is.True(strings.HasPrefix(text, "on update configmaps times=1 do fail Conflict # legal, matched 1, happened 1\n"))
	code, _ = c.do("POST", "/sim/v1/faults/release", "")
	is.Equal(code, http.StatusOK)
	code, _ = c.do("DELETE", "/sim/v1/faults", "")
	is.Equal(code, http.StatusOK)
	is.Equal(srv.Faults.String(), "")
}

// TestFaultDecisions checks that the same seed and the same requests lead to the same decisions, and that the decisions
// of one fault do not depend on those of another.
func TestFaultDecisions(t *testing.T) {
	is := is.New(t)
	run := func(seed uint64, faults ...fault.Fault) (codes []int, conflicts string) {
		srv := fake.RunT(t, fake.Options{Seed: seed})
		c := client{t, srv}
		c.create("a")
		srv.Faults.Add(faults...)
		for range 100 {
			code, _ := c.do("PUT", mapsPath+"/a", mapA)
			codes = append(codes, code)
		}
		for _, d := range srv.Faults.Decisions() {
			if strings.Contains(d.Fault, "Conflict") {
				is.Equal(d.Site, "request.decided update configmaps default/a") // where it was decided
				conflicts += map[bool]string{true: "1", false: "0"}[d.Fired]
			}
		}
		return codes, conflicts
	}
	conflict := fault.On("update", "*").Probability(0.3).Conflict()
	slow := fault.On("update", "*").Probability(0.5).Compact()
	codes, alone := run(7, conflict)
	again, _ := run(7, conflict)
	is.Equal(codes, again)
	is.Equal(len(alone), 100)
	_, with := run(7, slow, conflict)
	is.Equal(with, alone)
	_, other := run(8, conflict)
	is.True(other != alone)
}

// TestRandomFaults checks that under random faults a client that retries writes everything exactly once.
func TestRandomFaults(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			is := is.New(t)
			srv := fake.RunT(t, fake.Options{Clock: clock.System{}, Seed: seed + 1})
			c := client{t, srv}
			srv.Faults.Add(fault.Random(seed, 12, "configmaps")...)
			for _, name := range []string{"a", "b", "c", "d"} {
				for code := 0; code != http.StatusCreated && code != http.StatusConflict; {
					code, _, _ = answer(t, srv, "POST", mapsPath, `{"metadata":{"name":"`+name+`"}}`)
					time.Sleep(time.Second)
				}
			}
			srv.Faults.Clear()
			_, text := c.do("GET", mapsPath, "")
			is.Equal(len(c.parse(text).List("items")), 4) // each object was written once
		})
	}
}
