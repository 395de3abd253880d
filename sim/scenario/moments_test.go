//go:build !js

package scenario

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/archive"
	controlplane "github.com/kubesim/kubesim/sim/controller"
)

// TestForksAndArchivesGoOn checks that a story continues unchanged in a fork, and in a cluster loaded from an archive:
// at any instant, and between any two steps of stepped controllers. At the end, both clusters are byte-identical:
// objects, history, caches and queues of controllers, random numbers and the hash of the trace.
func TestForksAndArchivesGoOn(t *testing.T) {
	t.Parallel()
	all := stories(t)
	for i, name := range slices.Sorted(maps.Keys(all)) {
		f := all[name]
		for _, stepped := range []bool{false, true} {
			if testing.Short() && (stepped || i%2 == 1) {
				continue
			}
			t.Run(name+map[bool]string{true: ", stepped"}[stepped], func(t *testing.T) {
				t.Parallel()
				through := traveller{stepped: stepped}
				want := through.travel(t, f)
				moved := traveller{stepped: stepped, r: rand.New(rand.NewPCG(1, 0)), chance: 8 / float64(through.moments)}
				if got := moved.travel(t, f); !bytes.Equal(want, got) {
					t.Errorf("after %d forks and archives the end is another one: %s", moved.moves, parting(want, got))
				}
			})
		}
	}
}

// traveller runs a story in a World. At each moment at which the Cluster is at rest, it may replace the Cluster by a
// copy in the same state.
type traveller struct {
	stepped bool // controllers run only in steps
	r       *rand.Rand
	chance  float64 // the probability of a move at each moment

	w       *World
	moments int
	moves   int
}

// travel runs a story and returns an archive of the final cluster.
func (x *traveller) travel(t *testing.T, f *File) []byte {
	t.Helper()
	w, err := New(f.prepared(Options{Files: f.Files, Strict: true}))
	if err != nil {
		t.Fatal(err)
	}
	x.w = w
	w.cluster.Control(func(m *controlplane.Manager) { m.Stepped = x.stepped })
	for _, line := range f.Lines {
		x.moment(t)
		switch op := line.Op; op.Name {
		case "tick", "clock":
			x.tick(t, op.Args[len(op.Args)-1])
		default:
			r, err := w.Do(op)
			if err != nil {
				t.Fatalf("%s: %v", line.Text, err)
			}
			if r.Failure != "" && !x.stepped { // with stepped controllers, an expectation need not hold immediately
				t.Errorf("%s: %s", line.Text, r.Failure)
			}
		}
	}
	return saved(t, w.cluster)
}

func saved(t *testing.T, c *sim.Cluster) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := archive.Write(&b, c); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// tick advances the clock like the command, from one instant to the next.
func (x *traveller) tick(t *testing.T, text string) {
	t.Helper()
	w := x.w
	w.run()
	if text == "settled" {
		for until := w.clock.Now().Add(settleTime); ; {
			x.steps(t)
			moving := w.cluster.Moving()
			w.run()
			if len(moving) == 0 || w.clock.Now().After(until) {
				return
			}
			x.pass(t, moving[0].At)
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	x.pass(t, w.clock.Now().Add(d))
}

func (x *traveller) pass(t *testing.T, until time.Time) {
	t.Helper()
	for {
		x.steps(t)
		x.moment(t)
		next, ok := x.w.clock.Next()
		if !ok || next.After(until) {
			break
		}
		x.w.instant(next)
	}
	x.w.instant(until)
	x.steps(t)
}

// steps runs all due steps of stepped controllers.
func (x *traveller) steps(t *testing.T) {
	t.Helper()
	for more := x.stepped; more; {
		x.w.cluster.Control(func(m *controlplane.Manager) { more = m.Step() })
		x.w.run()
		x.moment(t)
	}
}

// moment may replace the cluster by a fork or by a copy from an archive.
func (x *traveller) moment(t *testing.T) {
	t.Helper()
	x.moments++
	if x.r == nil || x.r.Float64() >= x.chance {
		return
	}
	x.moves++
	c := x.w.cluster
	if x.r.IntN(2) == 0 {
		c = c.Fork()
	} else {
		a, err := archive.Read(bytes.NewReader(saved(t, c)))
		if err == nil {
			c, err = a.Cluster()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	x.w.cluster, x.w.clock = c, c.Clock().(*clock.Manual)
}

// parting returns the text around the first difference between two archives.
func parting(a, b []byte) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	const around = 300
	show := func(x []byte) []byte { return x[max(i-around/3, 0):min(i+around, len(x))] }
	return fmt.Sprintf("\n- …%q…\n+ …%q…", show(a), show(b))
}
