package dropin

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/fault"
)

// checks holds the settings for observing a server while it runs. Environment variables set them.
type checks struct {
	faults, trace, report, permissions string // paths of files
	swarm                              fault.Plan
	oracles                            []func(*fake.Server)
	rest                               bool // the oracle rest
	virtual                            bool // time is virtual, though virtualVariable is not set
}

// hotLoop is the number of requests per minute from which KUBESIM_ORACLES=hotloop reports a client.
const hotLoop = 3000

// setOracles parses comma-separated names of oracles, such as owner:pods. It returns an error if one is unknown.
func (s *servers) setOracles(value string) error {
	for name := range strings.SplitSeq(value, ",") {
		kind, resource, _ := strings.Cut(strings.TrimSpace(name), ":")
		add := func(*fake.Server) {}
		switch {
		case kind == "leftbehind":
			add = func(srv *fake.Server) { srv.NoOrphans(resource) }
		case kind == "owner" && resource != "":
			add = func(srv *fake.Server) { srv.Never("two "+resource+" of an owner", fake.OnePerOwner(resource)) }
		case kind == "owner":
			add = func(srv *fake.Server) { srv.NoTwins() }
		case name == "lostupdates":
			add = func(srv *fake.Server) { srv.NoLostUpdates() }
		case name == "hotloop":
			add = func(srv *fake.Server) { srv.NoHotLoop("", hotLoop) }
		case name == "rest" && !s.virtual && os.Getenv(virtualVariable) == "":
			return errors.New("rest needs virtual time: use kubesim gotest")
		case name == "rest":
			s.rest = true
		default:
			return fmt.Errorf("%q is not an oracle: there are owner, leftbehind, lostupdates, rest, hotloop, owner:RESOURCE and leftbehind:RESOURCE", name)
		}
		s.oracles = append(s.oracles, add)
	}
	return nil
}

// virtualVariable is set in processes with virtual time.
const virtualVariable = "KUBESIM_GOTEST_TIME"

// startObserved starts the server and adds the oracles. If there is nothing to check, it starts an ordinary server.
func (s *servers) startObserved(stderr io.Writer) (*fake.Server, error) {
	if len(s.oracles) == 0 && !s.options.FailOnWarning && s.permissions == "" {
		return fake.New(s.options)
	}
	t := &observer{stderr: stderr}
	srv := fake.RunT(t, s.options)
	if srv == nil {
		return nil, t.err
	}
	for _, add := range s.oracles {
		add(srv)
	}
	s.listen.Filter = t
	if s.rest {
		suite.Lock()
		defer suite.Unlock()
		suite.resting = append(suite.resting, srv)
	}
	return srv, nil
}

// suite is the state of the test suite that runs in this process with its servers.
var suite struct {
	sync.Mutex
	failures []string
	resting  []*fake.Server // the running servers with the oracle rest
}

// EndTest returns the failures that oracles have found in this process since the last call. Package fake/gotest/inside calls
// it at the end of each test and spec. If rest is true, it first waits until the clients of the servers with the oracle rest
// are at rest.
func EndTest(rest bool) []string {
	suite.Lock()
	servers := suite.resting
	suite.Unlock()
	if rest {
		for _, srv := range servers {
			srv.AtRest(&observer{stderr: io.Discard}, atRest)
		}
	}
	suite.Lock()
	defer suite.Unlock()
	failures := suite.failures
	suite.failures = nil
	return failures
}

// atRest is the time without writes that the oracle rest demands.
const atRest = 10 * time.Minute

// observer implements fake.TB for a server that runs for a test suite. It does not end the suite. Each failure goes to stderr,
// to EndTest, and into a warning of the next response, which clients of client-go log.
type observer struct {
	stderr io.Writer
	err    error

	mu       sync.Mutex
	warnings []string
}

// Filter implements listen.Filter. It adds the failures that no response has mentioned yet to a response, as warnings.
func (t *observer) Filter(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.mu.Lock()
		for _, text := range t.warnings {
			w.Header().Add("Warning", "299 - "+strconv.Quote(text))
		}
		t.warnings = nil
		t.mu.Unlock()
		next.ServeHTTP(w, r)
	})
}

// Helper implements fake.TB.
func (*observer) Helper() {}

// Cleanup implements fake.TB. It calls nothing, because servers.serve closes the server.
func (*observer) Cleanup(func()) {}

// Logf implements fake.TB.
func (t *observer) Logf(format string, args ...any) { fmt.Fprintf(t.stderr, format+"\n", args...) }

// Errorf implements fake.TB. It is called for each failure.
func (t *observer) Errorf(format string, args ...any) {
	t.Logf(format, args...)
	text := fmt.Sprintf(format, args...)
	t.mu.Lock()
	t.warnings = append(t.warnings, strings.Join(strings.Fields(text), " "))
	t.mu.Unlock()
	suite.Lock()
	defer suite.Unlock()
	suite.failures = append(suite.failures, text)
	if path := os.Getenv(FailuresVariable); path != "" {
		if err := appendLine(path, strconv.Quote(text)); err != nil {
			t.Logf("%s: %v", FailuresVariable, err)
		}
	}
}

// FailuresVariable is the variable with the path of a file to which servers append the failures of oracles, one per line and quoted.
// kubesim gotest sets it in real time, when the servers are other processes than the tests.
const FailuresVariable = "KUBESIM_GOTEST_FAILURES"

func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, line+"\n")
	return errors.Join(err, f.Close())
}

// Fatalf implements fake.TB. It is called if the server does not start.
func (t *observer) Fatalf(format string, args ...any) { t.err = fmt.Errorf(format, args...) }

// finish ends the observation of a server, and writes the files whose content is only complete when the server ends.
func (s *servers) finish(srv *fake.Server) error {
	suite.Lock()
	suite.resting = slices.DeleteFunc(slices.Clone(suite.resting), func(other *fake.Server) bool { return other == srv })
	suite.Unlock()
	var broken error
	if n := len(srv.Broken()); n > 0 {
		broken = fmt.Errorf("%d failures of oracles", n)
	}
	return errors.Join(broken,
		writeNext("KUBESIM_REPORT", s.report, func() string { return s.swarmText() + srv.Report(0, false) }),
		writeNext("KUBESIM_PERMISSIONS", s.permissions, func() string { return permissionsOf(srv) }))
}

// writeNext writes text to a new file. If path exists, it adds a number to the name. If path is empty, it does nothing.
func writeNext(variable, path string, text func() string) error {
	if path == "" {
		return nil
	}
	f, err := createNext(path)
	if err == nil {
		_, err = io.WriteString(f, text())
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", variable, err)
	}
	return nil
}

// permissionsOf returns, for each user, the role with the permissions that it needed, and its missing and unused rules.
func permissionsOf(srv *fake.Server) string {
	users := map[string]bool{}
	for _, a := range srv.Actions("") {
		users[a.User] = true
	}
	var b strings.Builder
	for _, user := range slices.Sorted(maps.Keys(users)) {
		p := srv.Permissions(user)
		fmt.Fprintf(&b, "---\n# what %s needed\n%s", user, p.ClusterRole())
		for _, r := range p.Missing {
			fmt.Fprintf(&b, "# missing: %s\n", r)
		}
		for _, r := range p.Unused {
			fmt.Fprintf(&b, "# unused: %s\n", r)
		}
	}
	return b.String()
}
