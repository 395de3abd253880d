// Package plain has tests that pass in virtual time only if the clock, the network, signals and processes are as they should be.
package plain

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestMain ends a run in real time, which would take hours.
func TestMain(m *testing.M) {
	if os.Getenv("KUBESIM_GOTEST_TIME") == "" {
		fmt.Println("these tests need virtual time")
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// about checks that a duration is what it should be, but for a few packets on the network.
func about(t *testing.T, got, want time.Duration) {
	t.Helper()
	if got < want || got > want+10*time.Millisecond {
		t.Errorf("%v have passed, not %v", got, want)
	}
}

func TestSleep(t *testing.T) {
	start := time.Now()
	time.Sleep(time.Hour)
	about(t, time.Since(start), time.Hour)
}

// Two readings differ, and time never goes back: not even when timers are due that readings have passed.
func TestMonotone(t *testing.T) {
	var last atomic.Int64
	var wait sync.WaitGroup
	for i := range 10 {
		wait.Go(func() {
			for range 1000 {
				time.Sleep(time.Duration(i) * time.Microsecond)
				before := last.Load()
				now := time.Now().UnixNano()
				if now <= before {
					t.Errorf("the clock went from %d to %d", before, now)
				}
				for now > before && !last.CompareAndSwap(before, now) {
					before = last.Load()
				}
			}
		})
	}
	wait.Wait()
}

// Profiles and traces do not keep time from passing.
func TestProfile(t *testing.T) {
	for _, d := range []time.Duration{30 * time.Second, time.Minute} {
		if err := pprof.StartCPUProfile(io.Discard); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		time.Sleep(d)
		about(t, time.Since(start), d)
		pprof.StopCPUProfile()
		if err := trace.Start(io.Discard); err != nil {
			t.Fatal(err)
		}
		time.Sleep(d)
		trace.Stop()
	}
}

// A goroutine that computes does not keep time from passing.
func TestBusy(t *testing.T) {
	done := make(chan bool)
	go func() {
		time.Sleep(time.Second)
		close(done)
	}()
	for {
		select {
		case <-done:
			time.Sleep(time.Millisecond) // the clock jumps, so it no longer follows real time
			return
		default:
		}
	}
}

// A goroutine that polls without a pause, and sometimes waits for a mutex, holds time still for two seconds altogether, and not for a second
// each time.
func TestPolling(t *testing.T) {
	before := processorTime(t)
	var mu sync.RWMutex
	done := false
	var wait sync.WaitGroup
	wait.Go(func() {
		for end := false; !end; {
			mu.RLock()
			end = done
			mu.RUnlock()
		}
	})
	for range 50 {
		mu.Lock()
		time.Sleep(time.Millisecond) // all goroutines wait
		mu.Unlock()
		time.Sleep(time.Millisecond) // the other goroutine polls
	}
	mu.Lock()
	done = true
	mu.Unlock()
	wait.Wait()
	if cpu := processorTime(t) - before; cpu > 15*time.Second {
		t.Errorf("%v of processor time for 100 sleeps of 1ms", cpu)
	}
	// Now the patience is as long as at the start.
	time.Sleep(time.Second)
	start := time.Now()
	for before := processorTime(t); processorTime(t)-before < 500*time.Millisecond; {
	}
	about(t, time.Since(start), 0)
}

// processorTime returns the processor time that the process has had.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func TestHTTPS(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(10 * time.Second)
		fmt.Fprint(w, "hello")
	}))
	defer s.Close()
	client := s.Client()
	start := time.Now()
	res, err := client.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if string(text) != "hello" || err != nil {
		t.Error(string(text), err)
	}
	about(t, time.Since(start), 10*time.Second)
	client.Timeout = 5 * time.Second
	if _, err := client.Get(s.URL); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TCP is as the kernel's: ports, deadlines, half-closed connections, errors.
func TestTCP(t *testing.T) {
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := net.Listen("tcp", l.Addr().String()); !errors.Is(err, syscall.EADDRINUSE) {
		t.Error(err)
	}
	c, err := net.Dial("tcp", fmt.Sprint("localhost:", l.Addr().(*net.TCPAddr).Port))
	if err != nil {
		t.Fatal(err)
	}
	a, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if c.LocalAddr().String() != a.RemoteAddr().String() || c.RemoteAddr().String() != a.LocalAddr().String() {
		t.Error(c.LocalAddr(), c.RemoteAddr(), a.LocalAddr(), a.RemoteAddr())
	}
	start := time.Now()
	_ = a.SetReadDeadline(start.Add(time.Minute))
	if _, err := a.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
	about(t, time.Since(start), time.Minute)
	_ = a.SetReadDeadline(time.Time{})
	large := make([]byte, 5<<20)
	go func() {
		_, _ = c.Write(large)
		_ = c.(*net.TCPConn).CloseWrite()
	}()
	if n, err := io.Copy(io.Discard, a); n != int64(len(large)) || err != nil {
		t.Error(n, err)
	}
	if _, err := a.Write([]byte("answer")); err != nil {
		t.Error(err)
	}
	a.Close()
	if text, err := io.ReadAll(c); string(text) != "answer" || err != nil {
		t.Error(string(text), err)
	}
	if _, err := c.Write([]byte("more")); err == nil {
		t.Error("a write to a closed connection succeeds")
	}
	c.Close()
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	go func() {
		time.Sleep(time.Minute)
		l.Close()
	}()
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", l.Addr().String()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Error(err)
	}
}

// A goroutine that waits for signals does not hold time, and gets signals before time passes.
func TestSignal(t *testing.T) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	time.Sleep(time.Hour)
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(time.Minute):
		t.Error("no signal")
	}
}

// etcd is kubesim's, in this process.
func TestEtcd(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	l.Close()
	cmd := exec.Command("/nowhere/etcd", "--data-dir="+t.TempDir(), "--listen-client-urls="+url)
	var errs safeBuffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for {
		res, err := http.Get(url + "/health")
		if err == nil {
			res.Body.Close()
			break
		}
		time.Sleep(time.Second)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if errs.String() == "" {
		t.Error("etcd has written nothing")
	}
	if err := cmd.Process.Kill(); !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	for _, kill := range []func(p *os.Process) error{
		func(p *os.Process) error { return p.Kill() },
		func(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }, // its process group, as envtest does
	} {
		killed := exec.Command("/nowhere/etcd", "--data-dir="+t.TempDir(), "--listen-client-urls="+url)
		if err := killed.Start(); err != nil {
			t.Fatal(err)
		}
		if err := kill(killed.Process); err != nil {
			t.Error(err)
		}
		if err := killed.Wait(); fmt.Sprint(err) != "signal: killed" {
			t.Error(err)
		}
		if err := syscall.Kill(killed.Process.Pid, 0); err != syscall.ESRCH {
			t.Error(err)
		}
	}
}

// serve starts etcd and kube-apiserver. do sends a request until the server answers it.
func serve(t *testing.T) (do func(method, path, body string) *http.Response) {
	return serveAll(t, 1)[0]
}

// serveAll starts etcd and several kube-apiservers over it.
func serveAll(t *testing.T, n int) (do []func(method, path, body string) *http.Response) {
	listen := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return l.Addr().String()
	}
	start := func(args ...string) {
		cmd := exec.Command(filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), args[0]), args[1:]...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill() })
	}
	etcd, tokens := "http://"+listen(), filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(tokens, []byte("secret,admin,1,system:masters\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	start("etcd", "--data-dir="+t.TempDir(), "--listen-client-urls="+etcd)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for range n {
		address := listen()
		_, port, _ := net.SplitHostPort(address)
		start("kube-apiserver", "--etcd-servers="+etcd, "--secure-port="+port, "--token-auth-file="+tokens)
		do = append(do, func(method, path, body string) *http.Response {
			for {
				r, _ := http.NewRequest(method, "https://"+address+path, strings.NewReader(body))
				r.Header.Set("Authorization", "Bearer secret")
				if res, err := client.Do(r); err == nil {
					return res
				}
				time.Sleep(time.Second)
			}
		})
	}
	return do
}

// TestTwoServers checks that API servers over one etcd share their data in virtual time.
func TestTwoServers(t *testing.T) {
	do := serveAll(t, 2)
	do[0]("GET", configMaps, "").Body.Close()
	events := do[1]("GET", configMaps+"?watch=1&fieldSelector=metadata.name=two", "")
	defer events.Body.Close()
	start := time.Now()
	do[0]("POST", configMaps, `{"metadata":{"name":"two"}}`).Body.Close()
	if _, err := events.Body.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
	if res := do[1]("GET", configMaps+"/two", ""); res.StatusCode != http.StatusOK {
		t.Error(res.Status)
	}
	if d := time.Since(start); d > time.Second {
		t.Error("the event took", d)
	}
}

const configMaps = "/api/v1/namespaces/default/configmaps"

// The API server gives a warning, which fails this test if KUBESIM_FAIL_ON_WARNING is set.
func TestWarning(t *testing.T) {
	serve(t)("POST", configMaps+"?fieldValidation=Warn", `{"metadata":{"name":"c"},"dada":{}}`)
}

// A client writes until the end of the test, which fails the test with KUBESIM_ORACLES=rest.
func TestRestless(t *testing.T) {
	do := serve(t)
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	do("POST", configMaps, `{"metadata":{"name":"c"}}`)
	go func() {
		for {
			select {
			case <-end:
				return
			case <-time.After(20 * time.Second):
				do("PUT", configMaps+"/c", `{"metadata":{"name":"c"},"data":{"now":"`+time.Now().String()+`"}}`).Body.Close()
			}
		}
	}()
}

// A watch must be fast, unless KUBESIM_SWARM or KUBESIM_FAULTS delays it.
func TestFastWatch(t *testing.T) {
	do := serve(t)
	do("GET", configMaps, "").Body.Close()
	events := do("GET", configMaps+"?watch=1&fieldSelector=metadata.name=c", "")
	go do("POST", configMaps, `{"metadata":{"name":"c"}}`)
	start := time.Now()
	if _, err := events.Body.Read(make([]byte, 1)); err != nil {
		return // a closed watch is not late
	}
	if d := time.Since(start); d > time.Second {
		t.Error("the event took", d)
	}
}

func TestAfterWarning(t *testing.T) {}

type safeBuffer struct {
	mu   sync.Mutex
	text string
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text += string(p)
	return len(p), nil
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text
}
