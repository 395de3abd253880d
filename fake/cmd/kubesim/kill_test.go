package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
)

// asCommand is an environment variable that makes the test binary run as kubesim: TestKill needs a process that it can kill.
const asCommand = "KUBESIM_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// writer is a client that writes its own config maps, one request after the other, and records the confirmed writes.
type writer struct {
	name  string
	rand  *rand.Rand
	told  map[string]string // resourceVersion of each existing config map, as confirmed
	doubt *doubt            // the write that was not confirmed, or nil
	done  int               // number of confirmed writes
}

// doubt is a write without a response.
type doubt struct{ name, verb string }

// write sends random writes, and records the confirmed ones, until the server does not respond.
func (w *writer) write(client *http.Client, url string) error {
	for {
		name := fmt.Sprint(w.name, "-", w.rand.IntN(5))
		verb := "POST"
		if w.told[name] != "" {
			verb = []string{"PUT", "PUT", "DELETE"}[w.rand.IntN(3)]
		}
		body := fmt.Sprintf(`{"metadata":{"name":%q,"resourceVersion":%q},"data":{"n":"%d","text":%q}}`, name, w.told[name], w.done, strings.Repeat("x", w.rand.IntN(2000)))
		path := configMaps
		if verb != "POST" {
			path += "/" + name
		}
		if verb == "DELETE" {
			body = ""
		}
		r, err := http.NewRequest(verb, url+path, strings.NewReader(body))
		if err != nil {
			return err
		}
		code, answer := 0, []byte(nil)
		if res, err := client.Do(r); err == nil {
			answer, err = io.ReadAll(res.Body)
			res.Body.Close()
			if err == nil {
				code = res.StatusCode
			}
		}
		switch {
		case code == 0:
			w.doubt = &doubt{name, verb}
			return nil
		case code >= 300:
			return fmt.Errorf("%s %s: %d %s", verb, name, code, answer)
		}
		w.done++
		obj, err := object.Parse(answer)
		if err != nil {
			return err
		}
		if w.told[name] = obj.ResourceVersion(); verb == "DELETE" {
			delete(w.told, name)
		}
	}
}

// check compares the stored objects with the confirmed writes. The write in doubt may or may not have been executed.
func (w *writer) check(is *is.I, there map[string]string) {
	is.Helper()
	for i := range 5 {
		name := fmt.Sprint(w.name, "-", i)
		if w.doubt == nil || w.doubt.name != name {
			is.Equal(there[name], w.told[name]) // confirmed writes are stored
			continue
		}
		switch now := there[name]; {
		case now == w.told[name]: // it was not executed
		case w.doubt.verb == "DELETE":
			is.Equal(now, "")
		default:
			old, _ := strconv.Atoi(w.told[name])
			rev, err := strconv.Atoi(now)
			is.NoErr(err)
			is.True(rev > old)
		}
		if w.told[name] = there[name]; there[name] == "" {
			delete(w.told, name)
		}
	}
	w.doubt = nil
}

// killed is a kubesim serve in a separate process.
type killed struct {
	process *exec.Cmd
	url     string
	stderr  bytes.Buffer
}

func startProcess(ctx context.Context, args ...string) (*killed, error) {
	k := &killed{process: exec.CommandContext(ctx, os.Args[0], append([]string{"serve"}, args...)...)}
	k.process.Env = append(os.Environ(), asCommand+"=1")
	k.process.Stderr = &k.stderr
	stdout, err := k.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := k.process.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, &k.stderr)
	}
	k.url = strings.TrimSpace(strings.TrimPrefix(line, "serving "))
	return k, nil
}

// configMapsOf returns the resourceVersions of a server's config maps by name, and that of the list.
func configMapsOf(client *http.Client, url string) (map[string]string, error) {
	res, err := client.Get(url + configMaps)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	list, err := object.Parse(data)
	if err != nil {
		return nil, err
	}
	there := map[string]string{}
	for _, item := range list.Objects("items") {
		there[item.Name()] = item.ResourceVersion()
	}
	return there, nil
}

// A server is killed repeatedly at a random moment under load, always with the same archive. The next process has every write that
// was confirmed to a client. KUBESIM_KILLS is the number of kills (make kill: 200).
func TestKill(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	kills := 6
	if text := os.Getenv("KUBESIM_KILLS"); text != "" {
		var err error
		kills, err = strconv.Atoi(text)
		is.NoErr(err)
	}
	file := filepath.Join(t.TempDir(), "world")
	random := rand.New(rand.NewPCG(1, uint64(kills)))
	var writers []*writer
	for i := range 4 {
		writers = append(writers, &writer{name: fmt.Sprint("w", i), rand: rand.New(rand.NewPCG(2, uint64(i))), told: map[string]string{}})
	}
	torn := 0
	for n := range kills + 1 {
		args := []string{"--archive", file}
		if n%5 == 4 {
			args = append(args, "--archive-sync", "always")
		}
		k, err := startProcess(t.Context(), args...)
		is.NoErr(err)
		client := &http.Client{Transport: &http.Transport{}}
		there, err := configMapsOf(client, k.url)
		is.NoErr(err)
		for _, w := range writers {
			w.check(is, there)
		}
		res, err := client.Post(k.url+"/sim/v1/compact", "", nil) // a file of hundreds of runs would take long to read
		is.NoErr(err)
		is.NoErr(res.Body.Close())
		if n == kills {
			is.NoErr(k.process.Process.Kill())
			_ = k.process.Wait()
			break
		}
		var work sync.WaitGroup
		failed := make([]error, len(writers))
		for i, w := range writers {
			work.Go(func() { failed[i] = w.write(client, k.url) })
		}
		deadline := time.NewTimer(time.Duration(random.Int64N(int64(150 * time.Millisecond))))
		<-deadline.C
		is.NoErr(k.process.Process.Kill())
		work.Wait()
		_ = k.process.Wait() // it was killed
		client.CloseIdleConnections()
		for _, err := range failed {
			is.NoErr(err)
		}
		if strings.Contains(k.stderr.String(), "was torn") {
			torn++
		}
	}
	done := 0
	for _, w := range writers {
		done += w.done
	}
	is.True(done > kills) // there was something to lose
	t.Logf("%d kills, %d confirmed writes, %d torn files: nothing was lost", kills, done, torn)
}
