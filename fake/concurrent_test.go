package fake_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

// asker sends requests from any goroutine.
type asker struct {
	transport http.RoundTripper
	url       string
}

func (a asker) ask(method, path, body string) (int, object.Object, error) {
	r, err := http.NewRequestWithContext(context.Background(), method, a.url+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := a.transport.RoundTrip(r)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, nil, err
	}
	obj, err := object.Parse(data)
	return res.StatusCode, obj, err
}

// count increments a counter in a ConfigMap n times, each time with the resourceVersion that it has read.
func (a asker) count(path string, n int) error {
	for done := 0; done < n; {
		_, obj, err := a.ask("GET", path, "")
		if err != nil {
			return err
		}
		var counter int
		_, _ = fmt.Sscan(obj.String("data", "n"), &counter) // the first read finds no number, so counter stays 0
		obj.Set(fmt.Sprint(counter+1), "data", "n")
		code, _, err := a.ask("PUT", path, string(object.JSON(map[string]any(obj))))
		switch {
		case err != nil:
			return err
		case code == http.StatusOK:
			done++
		case code != http.StatusConflict:
			return fmt.Errorf("update: %d", code)
		}
	}
	return nil
}

// churn creates, lists, watches and deletes objects that only this worker uses.
func (a asker) churn(worker, n int) error {
	for i := range n {
		name := fmt.Sprintf("w%d-%d", worker, i)
		code, _, err := a.ask("POST", configMaps, `{"metadata":{"name":"`+name+`","labels":{"w":"`+fmt.Sprint(worker)+`"}}}`)
		if err != nil || code != http.StatusCreated {
			return fmt.Errorf("create: %d %w", code, err)
		}
		_, list, err := a.ask("GET", fmt.Sprint(configMaps, "?labelSelector=w%3D", worker), "")
		if err != nil || len(list.List("items")) != 1 {
			return fmt.Errorf("list: %v %w", list, err)
		}
		if err := a.firstEvent(fmt.Sprint(configMaps, "?watch=1&labelSelector=w%3D", worker)); err != nil {
			return err
		}
		code, _, err = a.ask("DELETE", configMaps+"/"+name, "")
		if err != nil || code != http.StatusOK {
			return fmt.Errorf("delete: %d %w", code, err)
		}
	}
	return nil
}

// firstEvent reads one event of a watch and closes the watch.
func (a asker) firstEvent(path string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", a.url+path, nil)
	if err != nil {
		return err
	}
	res, err := a.transport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	line, err := bufio.NewReader(res.Body).ReadString('\n')
	if err == nil && !strings.HasPrefix(line, `{"type":"ADDED"`) {
		err = errors.New("the first event is " + line)
	}
	return err
}

// TestConcurrentClients checks that concurrent clients lose no update and do not block each other, in process and over
// a socket.
func TestConcurrentClients(t *testing.T) {
	is := is.New(t)
	srv := fake.RunT(t)
	c := client{t, srv}
	l, err := srv.Listen(fake.ListenOptions{})
	is.NoErr(err)
	c.create("counter")
	network := &http.Transport{}
	defer network.CloseIdleConnections()
	const workers, rounds = 8, 15
	watch := c.watch("&resourceVersion=" + rev(srv.Revision()) + "&fieldSelector=metadata.name%3Dcounter")
	failures := make([]error, 2*workers)
	var group sync.WaitGroup
	for i := range workers {
		a := asker{srv.Transport(), srv.URL()}
		if i%2 == 1 {
			a = asker{network, l.URL()}
		}
		group.Go(func() { failures[i] = a.count(configMaps+"/counter", rounds) })
		group.Go(func() { failures[workers+i] = a.churn(i, rounds) })
	}
	group.Wait()
	is.NoErr(errors.Join(failures...))
	_, body := c.do("GET", configMaps+"/counter", "")
	is.Equal(c.parse(body).String("data", "n"), fmt.Sprint(workers*rounds)) // no update is lost
	srv.Close()
	for i, e := range watch.rest() {
		is.Equal(e.meta().String("data", "n"), fmt.Sprint(i+1)) // a watch has seen each update, in order
	}
}
