package explore

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/chance"
	"github.com/kubesim/kubesim/fake/explore/campaign"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/trace"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// traceRecords is how many records of a run are kept: more than ten busy minutes have.
const traceRecords = 200_000

// tailSteps is how many steps of a run are shown when it fails.
const tailSteps = 20

// testUnderPlan is a test that is run under plans.
type testUnderPlan struct {
	t       *testing.T
	options fake.ExploreOptions
	body    func(fake.T, *fake.Server)
	capture *capture
}

// run runs the test under a plan, in its own bubble. If full is set, the outcome has the hash and the last events.
func (x *testUnderPlan) run(p campaign.Plan, full bool) (out campaign.Outcome) {
	began := time.Now()
	text := x.capture.captureOutput(func() { x.bubble(p, full, &out) })
	out.Took = time.Since(began)
	if len(out.Failures) > 0 {
		out.Output = text + out.Output
	}
	return out
}

// bubble fills in the outcome of a run. Goroutines that are left over are a failure, unless a process has crashed, because the goroutines
// of a real process end with it.
func (x *testUnderPlan) bubble(p campaign.Plan, full bool, out *campaign.Outcome) {
	defer watched.Store(nil)
	defer func() {
		if broken := recover(); broken != nil && !crashes(p) && len(out.Failures) == 0 {
			out.Failures = append(out.Failures, campaign.Failure{Site: campaign.SiteLeak,
				Text: fmt.Sprintf("%v: goroutines that the test has started do not end with it", broken)})
		}
	}()
	synctest.Test(x.t, func(t *testing.T) {
		r := newRecorder(t)
		tr := newTrial(p, full)
		o := x.options.Server
		o.Clock, o.Seed = tr.clock, p.Seed
		if len(o.Replicas) == 0 {
			o.Replicas = make([]fake.ReplicaOptions, replicasDefault)
		}
		o.Replicas = append(slices.Clone(o.Replicas), o.Replicas[0]) // see trial.own
		o.Trace, o.NoHashes = traceRecords, !full
		if err := fake.RunTrial(r, o, tr); err != nil {
			r.Errorf("kubesim: the server does not start: %v", err)
			out.Failures = r.failures
			return
		}
		s := tr.server
		watched.Store(s)
		itself := func() { atomic.StoreUintptr(&tr.body, chance.Goroutine()) }
		r.runIsolated(itself, func() { x.body(r, s) })
		s.Heal()
		tr.collect(x, r, out)
		close(tr.ended)
		r.clean(itself)
		tr.recordOutcome(r, full, out)
		out.Disturbed = tr.draws.disturbed.Load()
		s.Close()
	})
}

// crashes reports whether a plan ends processes.
func crashes(p campaign.Plan) bool {
	return slices.ContainsFunc(p.Steps(), func(s campaign.Step) bool { _, ok := s.Do.(campaign.Crash); return ok })
}

// capture is a file that receives standard output and standard error of tests. If it is nil, they are not redirected.
type capture struct{ file *os.File }

func newCapture() *capture {
	file, err := os.CreateTemp("", "kubesim-output-*")
	if err != nil {
		return nil
	}
	os.Remove(file.Name()) // it lives as long as it is open
	return &capture{file}
}

// captureOutput runs f and returns the output that f printed.
func (c *capture) captureOutput(f func()) (text string) {
	if c == nil {
		f()
		return ""
	}
	stdout, stderr := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = c.file, c.file
	defer func() {
		os.Stdout, os.Stderr = stdout, stderr
		n, err := c.file.Seek(0, io.SeekCurrent)
		if err != nil || n == 0 {
			return
		}
		data := make([]byte, n)
		n2, _ := c.file.ReadAt(data, 0) // what cannot be read is not shown
		text = string(data[:n2])
		_, _ = c.file.Seek(0, io.SeekStart)
	}()
	f()
	return text
}

// collect records what the run has used, before the cleanup.
func (t *trial) collect(x *testUnderPlan, r *recorder, out *campaign.Outcome) {
	s := t.server
	out.Happened = s.Faults.String()
	log := s.Trace()
	var sequences campaign.Sequences
	resources, writes := map[string]bool{}, map[string]int{}
	answers := map[uint64]int{}
	keys := map[uint64]string{} // of what a request has created
	for i := range log.Records {
		switch q := &log.Records[i]; q.Site {
		case trace.RequestAnswered:
			answers[q.Cause] = q.Code
		case trace.StoreCommitted:
			keys[q.Cause] = q.Key
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range log.Records {
		q := &log.Records[i]
		if q.Site != trace.RequestArrived || q.Spared {
			continue
		}
		name := t.clientLocked(q.Client)
		code := answers[q.N]
		sequences.Add(name, q.Verb+" "+q.What, code)
		if strings.HasPrefix(q.What, "/") {
			continue
		}
		resource, _, _ := strings.Cut(q.What, "/")
		resources[resource] = true
		if !slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, q.Verb) {
			continue
		}
		if resource != "leases.coordination.k8s.io" && !strings.HasPrefix(resource, "events") {
			writes[name]++
		}
		key := q.Key
		made, committed := keys[q.N]
		if q.Verb == "create" && committed {
			key = made
		}
		out.Writes = append(out.Writes, campaign.Write{N: q.N, At: q.At.Sub(t.began), Client: name, Verb: q.Verb, What: q.What, Key: key,
			Code: code, Committed: committed})
	}
	out.Sequences = sequences.List()
	out.Seen = campaign.Seen{Resources: object.SortedKeys(resources), Replicas: t.own - 1, Took: t.quiet,
		Clients: t.clients(writes), Objects: t.editable(x.options.Edits)}
}

// clients are those under test.
func (t *trial) clients(writes map[string]int) (list []campaign.Client) {
	processes := t.server.Processes()
	for _, p := range processes {
		list = append(list, campaign.Client{Name: p.Name(), Writes: writes[p.Name()], Process: true})
	}
	for _, name := range t.names {
		if name != "" {
			list = append(list, campaign.Client{Name: name, Writes: writes[name]})
		}
	}
	for i := range list {
		list[i].Clock = t.server.HasClientClock(list[i].Name)
	}
	slices.SortFunc(list, func(a, b campaign.Client) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(list, func(a, b campaign.Client) bool { return a.Name == b.Name })
}

// recordOutcome records in out the failures and the details that help to understand them.
func (t *trial) recordOutcome(r *recorder, full bool, out *campaign.Outcome) {
	r.mu.Lock()
	out.Failures, out.Output = r.failures, r.output.String()
	r.mu.Unlock()
	if !full {
		return
	}
	log := t.server.Trace()
	out.Hash = log.Hash
	if len(out.Failures) > 0 {
		t.mu.Lock()
		out.Sent = t.sent
		t.mu.Unlock()
		log.Records = eventful(log.Records)
		out.Timeline = log.Report(trace.ReportOptions{Lines: tailSteps, Marked: t.server.Marks()})
	}
}

// eventful removes successful reads, and bookmarks: polling of a controller is not worth reporting.
func eventful(records []trace.Record) []trace.Record {
	reads, answers := map[uint64]bool{}, map[uint64]int{}
	for i := range records {
		switch r := &records[i]; r.Site {
		case trace.RequestArrived:
			reads[r.N] = r.Verb == "get" || r.Verb == "list" || r.Verb == "watch"
		case trace.RequestAnswered:
			answers[r.Cause] = r.Code
		}
	}
	return slices.DeleteFunc(records, func(r trace.Record) bool {
		request := r.Cause
		switch r.Site {
		case trace.WatchSent:
			return r.Verb == watchcache.Bookmark
		case trace.RequestArrived:
			request = r.N
		case trace.RequestDecided, trace.RequestAnswered:
		default:
			return false
		}
		return reads[request] && answers[request] < http.StatusBadRequest
	})
}

// editable returns the objects of resources, with the schemas of their definitions.
func (t *trial) editable(resources []string) (list []campaign.Object) {
	for _, resource := range resources {
		schema := t.specSchema(resource)
		if schema == nil {
			continue
		}
		var found struct {
			Items []struct {
				Metadata struct{ Namespace, Name string }
				Spec     json.RawMessage
			}
		}
		_ = json.Unmarshal(t.ask("GET", t.collectionPath(resource), ""), &found) // nothing is found then
		for _, item := range found.Items {
			list = append(list, campaign.Object{Resource: resource, Key: trace.Key(item.Metadata.Namespace, item.Metadata.Name),
				Schema: schema, Spec: item.Spec})
		}
	}
	return list
}

// definition has the fields of a CustomResourceDefinition that are needed to edit objects.
type definition struct {
	Spec struct {
		Group    string
		Names    struct{ Plural string }
		Versions []struct {
			Name    string
			Storage bool
			Schema  struct {
				OpenAPIV3Schema struct{ Properties map[string]json.RawMessage }
			}
		}
	}
}

// definition reads the definition of a resource, and which of its versions is stored.
func (t *trial) definition(resource string) (d definition, version int) {
	_ = json.Unmarshal(t.ask("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+resource, ""), &d)
	for i, v := range d.Spec.Versions {
		if v.Storage {
			return d, i
		}
	}
	return d, -1
}

// specSchema returns the schema of the spec of a custom resource, or nil if there is none.
func (t *trial) specSchema(resource string) []byte {
	d, version := t.definition(resource)
	if version < 0 {
		return nil
	}
	return d.Spec.Versions[version].Schema.OpenAPIV3Schema.Properties["spec"]
}

// collectionPath is where all objects of a custom resource are listed.
func (t *trial) collectionPath(resource string) string {
	d, version := t.definition(resource)
	if version < 0 {
		return "/apis"
	}
	return "/apis/" + d.Spec.Group + "/" + d.Spec.Versions[version].Name + "/" + d.Spec.Names.Plural
}

// objectPath returns the path of an object of a custom resource, or "" if the resource does not exist.
func (t *trial) objectPath(resource, key string) string {
	d, version := t.definition(resource)
	if version < 0 {
		return ""
	}
	path := "/apis/" + d.Spec.Group + "/" + d.Spec.Versions[version].Name
	namespace, name, ok := strings.Cut(key, "/")
	if ok {
		path += "/namespaces/" + namespace
	} else {
		name = key
	}
	return path + "/" + d.Spec.Names.Plural + "/" + name
}
