package trace

import (
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

// tale records requests, commits and events. Each step takes one second.
type tale struct {
	*Trace
	now time.Time
}

func (s *tale) request(client, verb, resource, key string) uint64 {
	s.now = s.now.Add(time.Second)
	return s.Add(&Record{At: s.now, Site: RequestArrived, Replica: 1, Client: client, User: "kubernetes-admin", Verb: verb, What: resource, Key: key})
}

func (s *tale) answer(request uint64, code int, text string) {
	s.Add(&Record{At: s.now, Site: RequestAnswered, Cause: request, Replica: 1, Code: code, Text: text})
}

func (s *tale) commit(request uint64, verb, resource, key string, before, after string) uint64 {
	return s.Add(&Record{At: s.now, Site: StoreCommitted, Cause: request, Verb: verb, What: resource, Key: key, Rev: 4000 + request, Before: []byte(before), After: []byte(after)})
}

func (s *tale) tell(commit uint64, client, verb, resource, key string) {
	s.Add(&Record{At: s.now, Site: WatchSent, Cause: commit, Replica: 1, Client: client, Verb: verb, What: resource, Key: key, Rev: 4000})
}

// newTale returns a tale with all kinds of steps, and the number of the incorrect write.
func newTale() (s *tale, wrong uint64) {
	s = &tale{New(Options{Keep: 1000}), start}
	n := s.request("kubectl/v1 (linux)", "create", "sites.web.example.com", "default/blog")
	c := s.commit(n, "ADDED", "sites.web.example.com", "default/blog", "", `{"spec":{"size":1}}`)
	s.tell(c, "operator/v1", "ADDED", "sites.web.example.com", "default/blog")
	s.answer(n, 201, "")
	for range 57 {
		s.now = s.now.Add(time.Minute)
		s.tell(0, "operator/v1", "BOOKMARK", "sites.web.example.com", "")
	}
	s.answer(s.request("operator/v1", "update", "leases.coordination.k8s.io", "default/l"), 200, "")
	s.answer(s.request("operator/v1", "get", "/apis", ""), 200, "")
	n = s.request("other", "get", "nodes", "a")
	s.answer(n, 404, `nodes "a" not found`)
	s.now = s.now.Add(24 * time.Hour)
	n = s.request("operator/v1", "patch", "deployments.apps/status", "default/web")
	s.Add(&Record{At: s.now, Site: Fault, Cause: n, Text: "on patch * do commit-then-fail Timeout"})
	wrong = s.commit(n, "MODIFIED", "deployments.apps", "default/web", `{"spec":{"replicas":1},"metadata":{"resourceVersion":"1","ownerReferences":[{"name":"blog"}]}}`,
		`{"spec":{"replicas":3},"metadata":{"resourceVersion":"2","ownerReferences":[{"name":"blog"}]}}`)
	s.answer(n, 504, "Timeout: late")
	s.Add(&Record{At: s.now, Site: StoreCommitted, Client: "deployment-controller", User: "system:serviceaccount:kube-system:deployment-controller",
		Verb: "DELETED", What: "pods", Key: "default/p", Rev: 4999})
	s.now = s.now.Add(5 * time.Second)
	s.tell(wrong, "kubelet/v1", "MODIFIED", "deployments.apps", "default/web")
	return s, wrong
}

func TestReport(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s, wrong := newTale()
	is.Equal(s.Log().Report(ReportOptions{Marked: []uint64{wrong}}), strings.TrimPrefix(`
2026-01-01
»     1 00:00:01     kubectl/v1 create sites.web.example.com default/blog → 201
                         sites.web.example.com default/blog, revision 4001: it is new
                         notified: operator/v1
      …              57 bookmarks, 1 request for a lease, 1 request for discovery in 56m2s
    126 00:57:04     other get nodes a → 404: nodes "a" not found
2026-01-02
✗   129 00:57:05     operator/v1 patch deployments.apps/status default/web → 504: Timeout: late
                         fault: on patch * do commit-then-fail Timeout
                         deployments.apps default/web, revision 4129
                             spec.replicas: 1 → 3
    133 00:57:05     deployment-controller (system:serviceaccount:kube-system:deployment-controller) writes
                         pods default/p, revision 4999: it is gone
    135 00:57:10     kubelet/v1 is notified now: MODIFIED deployments.apps default/web, revision 4000
`, "\n"))
}

// TestReportOfTheEnd checks that the report contains the newest steps, and marked steps of any age.
func TestReportOfTheEnd(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s, wrong := newTale()
	text := s.Log().Report(ReportOptions{Lines: 1})
	is.Equal(strings.Count(text, "\n"), 3)
	is.True(strings.HasSuffix(text, "kubelet/v1 is notified now: MODIFIED deployments.apps default/web, revision 4000\n"))
	text = s.Log().Report(ReportOptions{Lines: 1, Marked: []uint64{wrong}})
	is.True(strings.Contains(text, "»     1 "))
	is.True(strings.Contains(text, "✗   129 "))
	is.True(!strings.Contains(text, "nodes"))
}

func TestReportByObject(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s, _ := newTale()
	var headings []string
	for line := range strings.Lines(s.Log().Report(ReportOptions{ByObject: true})) {
		if line[0] != ' ' && line[0] != '2' {
			headings = append(headings, strings.TrimSpace(line))
		}
	}
	is.Equal(headings, []string{"sites.web.example.com default/blog", "sites.web.example.com", "leases.coordination.k8s.io default/l", "/apis", "nodes a",
		"deployments.apps default/web", "pods default/p"})
}

// TestReportOfAFile checks a trace from a file, which contains no object states, and truncated traces, which contain
// responses without requests.
func TestReportOfAFile(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s, wrong := newTale()
	l, err := Parse(s.Log().JSONL())
	is.NoErr(err)
	is.True(strings.Contains(l.Report(ReportOptions{}), "deployments.apps default/web, revision 4129\n"))
	for n := range l.Records {
		cut := &Log{Records: l.Records[n:]}
		is.True(cut.Report(ReportOptions{Marked: []uint64{wrong}}) != "")
	}
}

// Heartbeats of nodes are counted, also if a client is notified of them later. Other changes of a node are shown.
func TestHeartbeats(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := &tale{New(Options{Keep: 1000}), start}
	for range 3 {
		s.now = s.now.Add(10 * time.Second)
		c := s.commit(0, "MODIFIED", "leases.coordination.k8s.io", "kube-node-lease/n", `{"spec":{"renewTime":"1"}}`, `{"spec":{"renewTime":"2"}}`)
		s.commit(0, "MODIFIED", "nodes", "n", `{"status":{"conditions":[{"type":"Ready","lastHeartbeatTime":"1"}]}}`,
			`{"status":{"conditions":[{"type":"Ready","lastHeartbeatTime":"2"}]}}`)
		s.now = s.now.Add(time.Second)
		s.tell(c, "operator/v1", "MODIFIED", "leases.coordination.k8s.io", "kube-node-lease/n")
	}
	s.commit(0, "MODIFIED", "nodes", "n", `{"spec":{}}`, `{"spec":{"unschedulable":true}}`)
	report := s.Log().Report(ReportOptions{})
	is.True(strings.Contains(report, "9 heartbeats of nodes in 23s\n"))
	is.Equal(strings.Count(report, "revision"), 1)
	is.True(strings.Contains(report, "spec.unschedulable"))
}
