// Package draws prints what depends on chance in a Go program, and has a test that fails in some orders of goroutines.
package draws

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"io"
	"math/big"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestDraws(t *testing.T) {
	for i := range 10 {
		small := map[int]bool{}
		large := map[string]int{}
		for n := range 1000 {
			small[n%7] = true
			large[fmt.Sprint(n)] = n
		}
		sum := 0
		for n := range small {
			sum = 10*sum + n
		}
		for _, n := range large {
			sum = 31*sum + n
		}
		fmt.Println(i, "maps", sum, "numbers", mathrand.Uint64())
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("key", new(big.Int).SetBytes(key.PublicKey.X.Bytes()), time.Now())
}

// The order of goroutines, timers and requests.
func TestOrder(t *testing.T) {
	var mu sync.Mutex
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Print(r.URL.Path, " ")
	}))
	defer s.Close()
	var wait sync.WaitGroup
	for i := range 50 {
		wait.Go(func() {
			for n := range 20 {
				_ = make([]byte, 100<<10)
				ticker, timer := time.NewTicker(time.Second), time.After(time.Second)
				select {
				case <-ticker.C:
				case <-timer:
					runtime.Gosched()
				}
				ticker.Stop()
				res, err := s.Client().Get(fmt.Sprint(s.URL, "/", i, ".", n))
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, res.Body)
				res.Body.Close()
			}
		})
	}
	wait.Wait()
	fmt.Println()
}

// TestFlaky fails if the first of two goroutines that wait for the same instant is the second one.
func TestFlaky(t *testing.T) {
	won := make(chan int, 2)
	for i := range 2 {
		go func() {
			for range mathrand.IntN(3) {
				runtime.Gosched()
			}
			won <- i
		}()
	}
	if <-won == 1 {
		t.Error("the wrong one is first")
	}
}

// TestOvertaken fails if the second of two requests, which is sent 50 µs after the first one, arrives first.
func TestOvertaken(t *testing.T) {
	arrived := make(chan string, 2)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { arrived <- r.URL.Path }))
	defer s.Close()
	var wait sync.WaitGroup
	for i, path := range []string{"/first", "/second"} {
		wait.Go(func() {
			time.Sleep(time.Second + time.Duration(i)*50*time.Microsecond)
			if res, err := http.Get(s.URL + path); err == nil {
				res.Body.Close()
			}
		})
	}
	wait.Wait()
	if <-arrived != "/first" {
		t.Error("the second request is first")
	}
}

// TestInterrupt sends a signal to kubesim gotest, and then waits in a system call. With the seeds 1 and 2 it only passes.
func TestInterrupt(t *testing.T) {
	sent, err := strconv.Atoi(os.Getenv("GOTEST_SIGNAL"))
	if seed := os.Getenv("KUBESIM_GOTEST_SEED"); err != nil || seed == "1" || seed == "2" {
		return
	}
	fifo, err := os.OpenFile(os.Getenv("GOTEST_FIFO"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer fifo.Close() // or when the process ends
	pid, err := strconv.Atoi(os.Getenv("GOTEST_PID"))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.Signal(sent)); err != nil {
		t.Fatal(err)
	}
	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil {
		t.Fatal(err)
	}
	_, _ = syscall.Read(pipe[0], make([]byte, 1))
}
