package trouble

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

// server records the calls of its methods.
type server struct{ did string }

func (s *server) Lag(resources ...string) error { s.did = fmt.Sprint("Lag", resources); return nil }
func (s *server) Cut()                          { s.did = "Cut" }
func (s *server) Resume()                       { s.did = "Resume" }
func (s *server) Restart()                      { s.did = "Restart" }
func (s *server) Stall(d time.Duration)         { s.did = fmt.Sprint("Stall ", d) }
func (s *server) CloseWatches()                 { s.did = "CloseWatches" }

func (s *server) Unready(d time.Duration, resources ...string) error {
	s.did = fmt.Sprint("Unready ", d, resources)
	return nil
}

// manager records the calls of its methods.
type manager struct{ did string }

func (m *manager) Resume(name string) error { m.did += "Resume " + name; return nil }
func (m *manager) Stop(name string) error   { m.did += "Stop " + name; return nil }
func (m *manager) Start(name string) error  { m.did += "Start " + name; return nil }
func (m *manager) Crash(name string) error  { m.did += "Crash " + name; return nil }

func (m *manager) Lag(name string, resources ...string) error {
	m.did += fmt.Sprint("Lag ", name, resources)
	return nil
}

func (m *manager) Delay(name string, d time.Duration) error {
	m.did += fmt.Sprint("Delay ", name, " ", d)
	return nil
}

func parse(line string) (Trouble, error) {
	words := strings.Fields(line)
	return Find(words[0]).Parse(words[1:])
}

// TestExamples checks that the example of each kind is parsed, formatted unchanged, and carried out.
func TestExamples(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	want := []string{"Lag[pods]", "Cut", "Resume", "Restart", "Unready 30s [pods]", "Stall 45s", "CloseWatches",
		"Stop job-controller", "Crash job-controller", "Start job-controller", "Delay job-controller 5s"}
	is.Equal(len(want), len(Kinds)) // each is here
	for i, k := range Kinds {
		x, err := parse(k.Example)
		is.NoErr(err)
		is.Equal(x.Kind, k)             // its own kind
		is.Equal(x.String(), k.Example) // the canonical form
		if k.OfReplicas() {
			var s server
			is.NoErr(x.Do(&s))
			is.Equal(s.did, want[i]) // its effect
		} else {
			var m manager
			is.NoErr(x.Control(&m))
			is.Equal(m.did, want[i])
		}
	}
}

// TestControllers checks that kinds for replicas and controllers are carried out on the one that the line names.
func TestControllers(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	for line, want := range map[string]string{ // order does not matter
		"lag job-controller pods": "Lag job-controller[pods]",
		"resume job-controller":   "Resume job-controller",
		"restart job-controller":  "Crash job-controllerStart job-controller",
		"slow 7 0s":               "Delay 7 0s", // a name, because slow does not apply to replicas
	} {
		x, err := parse(line)
		is.NoErr(err)
		is.Equal(x.String(), line)
		var m manager
		is.NoErr(x.Control(&m))
		is.Equal(m.did, want)
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	is.Equal(Requests((*Kind).OfReplicas), "lag?resource=pods, cut, resume, restart, unready?for=30s, stall?after=45s, close")
	is.Equal(Requests((*Kind).OfControllers), "lag?resource=pods, resume, restart, stop, crash, start, slow?for=5s")
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{ // order does not matter
		"lag":           "the replica is missing",
		"cut two":       `"two" is not the number of a replica`,
		"stop":          "the name of the controller is missing",
		"slow x":        "the duration is missing",
		"cut 2 pods":    `unexpected "pods"`,
		"stall 1 soon":  `"soon" is not a duration`,
		"stall 1 -1s":   `"-1s" is not a duration`,
		"unready 1":     "the duration is missing",
		"stall 1 1s po": `unexpected "po"`,
	} {
		_, err := parse(line)
		is.New(t).True(err != nil && strings.Contains(err.Error(), want)) // describes the error
	}
}
