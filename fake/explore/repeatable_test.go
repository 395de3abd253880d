package explore_test

import (
	"os"
	"os/exec"
	"regexp"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
)

// ready contains the tests that TestRepeatable runs. In each, several goroutines that become ready at the same time
// write in the order in which they run.
var ready = map[string]func(t *testing.T, srv *fake.Server){
	"passes": func(*testing.T, *fake.Server) {},
	"fails":  func(t *testing.T, _ *fake.Server) { t.Error("whatever the order is") },
	"hangs": func(_ *testing.T, _ *fake.Server) {
		var mu sync.Mutex
		mu.Lock()
		go mu.Lock()
		time.Sleep(time.Minute)
		mu.Unlock()
	},
}

// TestRepeatable runs itself in a separate process and checks the log.
func TestRepeatable(t *testing.T) {
	const inside = "KUBESIM_TEST_REPEATABLE"
	if name := os.Getenv(inside); name != "" {
		fake.Repeatable(t)
		synctest.Test(t, func(t *testing.T) {
			srv := fake.RunT(t, fake.Options{Clock: clock.System{}, Bare: true})
			var all sync.WaitGroup
			for _, name := range []string{"a", "b", "c", "d", "e"} {
				all.Go(func() {
					time.Sleep(time.Second)
					_, _ = send(srv.Transport(), srv, "POST", mapsPath, `{"metadata":{"name":"`+name+`"}}`, nil)
				})
			}
			all.Wait()
			ready[name](t, srv)
		})
		return
	}
	t.Parallel()
	program, err := os.Executable()
	is.New(t).NoErr(err)
	same := "([89]|10)" // 10, unless the machine is very busy
	if raced {
		same = "[0-9]+"
	}
	for _, x := range []struct {
		name, says string
	}{
		{"passes", "--- SKIP: TestRepeatable"},
		{"fails", "it fails 10 of 10 times, and " + same + " runs are byte-identical"},
		{"hangs", "waits for the mutex at"},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(program, "-test.run=^TestRepeatable$", "-test.v")
			cmd.Env = append(os.Environ(), inside+"="+x.name)
			out, _ := cmd.CombinedOutput() // the output contains the error
			if !regexp.MustCompile(x.says).Match(out) {
				t.Errorf("want %q in\n%s", x.says, out)
			}
		})
	}
}
