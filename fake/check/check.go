// Package check reports whether simulated API servers accept the objects in files, without a cluster. It implements "kubesim
// check".
//
//	paths ─ Read ─▶ Sources: objects, in the order of creation
//	                   │ create, on a server of each minor version
//	                   ▼
//	                Verdict: code, reason, message, causes, warnings
//	                   │ position: the line and column of the field that a message names
//	                   ▼
//	                Report: Findings ─ Write ─▶ text, JSON, SARIF, annotations of GitHub
//	                   ▲ differences between two minor versions: Upgrade
//	                   └ expected results of requests: PolicyTests
//
// Namespaces, definitions of custom resources, roles, quotas and policies are created before the objects to which they apply.
package check

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/fake/dump"
	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/wire"
)

// Options configure a check.
type Options struct {
	// Minors are the minor versions of the servers. The default is schema.Default.
	Minors []string
	// Namespace is the namespace of objects without one. The default is "default".
	Namespace string
	// User and Groups are the identity that creates the objects, except for objects that configure the cluster. If User is empty,
	// an administrator creates all objects.
	User   string
	Groups []string
	// Strict refuses objects in namespaces that do not exist. Otherwise these namespaces are created.
	Strict bool
	// Import are the paths of a cluster's objects, as for fake.Server.Import. They exist before the objects of the files are
	// created. Import implies Strict.
	Import []string

	imported *dump.Dump // the objects in Import
}

// complete sets the defaults, and reads the objects to import.
func (o *Options) complete() (err error) {
	if len(o.Minors) == 0 {
		o.Minors = []string{schema.Default}
	}
	o.Namespace = cmp.Or(o.Namespace, "default")
	if len(o.Import) > 0 && o.imported == nil {
		o.Strict = true
		o.imported, err = dump.Read(o.Import...)
	}
	return err
}

// Answer contains the servers' responses to the creation of an object, by minor version.
type Answer struct {
	File     string              `json:"file"`
	Object   string              `json:"object"`
	Verdicts map[string]*Verdict `json:"verdicts"`
}

// Report is the result of a check.
type Report struct {
	Minors   []string  `json:"minors"`
	Refused  int       `json:"refused"`            // number of objects that a server refuses
	Tests    int       `json:"tests,omitempty"`    // number of policy tests
	Imported int       `json:"imported,omitempty"` // number of imported objects with which an upgrade was tried
	Findings []Finding `json:"findings"`
	Answers  []Answer  `json:"objects"`
}

// Failed reports whether a finding is an error.
func (r *Report) Failed() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Level == Error })
}

// Run creates the objects of the sources on a server of each minor version. Refused objects are findings in the report. It returns
// an error if an option is invalid or a server cannot be started.
func Run(s *Sources, o Options) (*Report, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	list := ordered(s.Objects)
	r := newReport(s, list, o.Minors)
	for _, minor := range o.Minors {
		srv, fakeServer, err := o.simulated(minor)
		if err != nil {
			return nil, err
		}
		r.addRefused(srv, minor)
		err = srv.run(list, minor, r)
		fakeServer.Close()
		if err != nil {
			return nil, fmt.Errorf("Kubernetes %s: %w", minor, err)
		}
	}
	r.finish()
	return r, nil
}

// Target is a server for tests on which RunOn creates objects.
type Target struct {
	URL       string
	Transport http.RoundTripper
	Token     string // bearer token of a cluster administrator
	// Pause is the time until a definition, a policy or a role affects later requests: some seconds for a real server.
	Pause time.Duration
	// Keep keeps the objects on the server.
	Keep bool
}

// Minor returns the server's minor version, such as "1.36".
func (t Target) Minor() (string, error) {
	version, err := (&Options{}).connect(t.URL, t.Transport, t.Token).admin.Get("/version", nil)
	return version.String("major") + "." + version.String("minor"), err
}

// RunOn is like Run with one minor version, but creates the objects on a given server, for example to compare a real server with
// simulated ones. At the end it deletes the objects unless t.Keep is set, but not the namespaces that it created for them. It returns an
// error if the server cannot be reached.
func RunOn(t Target, s *Sources, o Options) (*Report, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	minor, err := t.Minor()
	if err != nil {
		return nil, err
	}
	srv := o.connect(t.URL, t.Transport, t.Token)
	srv.pause = t.Pause
	list := ordered(s.Objects)
	r := newReport(s, list, []string{minor})
	if err := srv.run(list, minor, r); err != nil {
		return nil, err
	}
	r.finish()
	if t.Keep {
		return r, nil
	}
	for _, a := range slices.Backward(r.Answers) {
		if err := srv.remove(a.Verdicts[minor].stored); err != nil {
			return nil, err
		}
	}
	srv.admin.Conn.Sleep(t.Pause)
	return r, nil
}

// newReport returns a report without verdicts and findings.
func newReport(s *Sources, list []*Object, minors []string) *Report {
	r := &Report{Minors: minors, Findings: slices.Clone(s.Problems)}
	for _, o := range list {
		r.Answers = append(r.Answers, Answer{File: o.File, Object: o.title(), Verdicts: map[string]*Verdict{}})
	}
	return r
}

// finish counts the refused objects, and sorts the findings by their position.
func (r *Report) finish() {
	r.Refused = 0
	for _, a := range r.Answers {
		for _, v := range a.Verdicts { // order does not matter
			if v.refused() {
				r.Refused++
				break
			}
		}
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Message, b.Message))
	})
}

// run creates the objects on the server, and adds its responses and the findings to the report.
func (s *server) run(list []*Object, minor string, r *Report) error {
	seen := map[string]*Object{}
	for i, o := range list {
		if s.pause > 0 && i > 0 && o.rank > list[i-1].rank {
			s.admin.Conn.Sleep(s.pause)
		}
		v, created, err := s.create(o)
		if err != nil {
			return err
		}
		r.Answers[i].Verdicts[minor] = v
		found := o.findings(v)
		if created != "" {
			found = append(found, o.finding(Note, "metadata.namespace", fmt.Sprintf("no file defines the namespace %s, so it was created", created)))
		}
		key := o.APIVersion() + " " + o.title()
		if first := seen[key]; first != nil && o.Name() != "" {
			line, _ := first.position("", false)
			found = append(found, o.finding(Warning, "metadata.name", fmt.Sprintf("it is also defined at %s:%d, and was applied over that", first.File, line)))
		} else {
			seen[key] = o
		}
		more, err := s.after(o, v)
		if err != nil {
			return err
		}
		for _, f := range append(found, more...) {
			r.add(f, minor)
		}
	}
	return nil
}

// placed matches the place of an object in a dump: FILE:LINE: NAME.
var placed = regexp.MustCompile(`^(.*?)(?::(\d+))?: (\w+ \S+)$`)

// addRefused adds a warning for each object that the server could not import.
func (r *Report) addRefused(s *server, minor string) {
	for _, p := range s.refused {
		f := Finding{File: p.Place, Level: Warning, Message: "not imported: " + p.Reason}
		if m := placed.FindStringSubmatch(p.Place); m != nil {
			f.File, f.Object = m[1], m[3]
			f.Line, _ = strconv.Atoi(m[2])
		}
		r.add(f, minor)
	}
}

// add adds a finding of a server to the report. If the report has the same finding for another minor version, add only adds minor
// to it.
func (r *Report) add(f Finding, minor string) {
	for i := range r.Findings {
		have := &r.Findings[i]
		if have.same(f) {
			if !slices.Contains(have.Minors, minor) {
				have.Minors = append(have.Minors, minor)
			}
			return
		}
	}
	f.Minors = []string{minor}
	r.Findings = append(r.Findings, f)
}

// after processes an object after its creation, like the controllers of a cluster. Conversion webhooks cannot be called, so the
// versions of a definition are converted without one. A quota gets the status that a controller would set. The pods of a workload
// are created in a dry run, and a finding is returned if they are refused.
func (s *server) after(o *Object, v *Verdict) ([]Finding, error) {
	if v.stored == nil {
		return nil, nil
	}
	switch {
	case o.rank == definitions && v.stored.String("spec", "conversion", "strategy") == "Webhook":
		f := o.finding(Note, "spec.conversion", "the conversion webhook is not called: fields of other versions are kept as they are")
		return []Finding{f}, s.withoutWebhook(v.stored.Name())
	case groupKind(v.stored) == quota && !v.stored.Has("status", "hard"):
		hard, used := v.stored.Map("spec", "hard"), map[string]any{}
		for name := range hard { // order does not matter
			used[name] = "0"
		}
		return nil, s.patch("/api/v1/namespaces/"+v.stored.Namespace()+"/resourcequotas/"+v.stored.Name()+"/status",
			object.Object{"status": map[string]any{"hard": hard, "used": used}})
	}
	return s.pods(o, v.stored)
}

// withoutWebhook sets a definition's conversion strategy to None.
func (s *server) withoutWebhook(name string) error {
	return s.patch("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+name,
		object.Object{"spec": map[string]any{"conversion": map[string]any{"strategy": "None", "webhook": nil}}})
}

// quota is the kind whose objects limit other objects only after a controller has set their status.
var quota = schema.GVK{Kind: "ResourceQuota"}

// patch applies a merge patch to the object at path, as an administrator.
func (s *server) patch(path string, patch object.Object) error {
	v, err := s.ask(s.admin.Request(wire.MethodPatch, path, nil, "application/merge-patch+json", object.JSON(map[string]any(patch))))
	if err == nil && v.refused() {
		err = errors.New(v.Message)
	}
	return err
}

// workload describes a kind whose objects contain a pod template: the path of the template, and the controller that creates the
// pods.
type workload struct {
	template   []string
	controller string
}

var workloads = map[schema.GVK]workload{
	{Kind: "ReplicationController"}:      {[]string{"spec", "template"}, "replication-controller"},
	{Group: "apps", Kind: "DaemonSet"}:   {[]string{"spec", "template"}, "daemon-set-controller"},
	{Group: "apps", Kind: "Deployment"}:  {[]string{"spec", "template"}, "replicaset-controller"},
	{Group: "apps", Kind: "ReplicaSet"}:  {[]string{"spec", "template"}, "replicaset-controller"},
	{Group: "apps", Kind: "StatefulSet"}: {[]string{"spec", "template"}, "statefulset-controller"},
	{Group: "batch", Kind: "CronJob"}:    {[]string{"spec", "jobTemplate", "spec", "template"}, "job-controller"},
	{Group: "batch", Kind: "Job"}:        {[]string{"spec", "template"}, "job-controller"},
}

// pods returns a finding if the server would refuse the pods that a controller creates for a stored workload. It returns nil for
// other kinds.
func (s *server) pods(o *Object, stored object.Object) ([]Finding, error) {
	w, ok := workloads[groupKind(stored)]
	if !ok {
		return nil, nil
	}
	pod := stored.At(w.template...).Copy()
	pod["apiVersion"], pod["kind"] = "v1", "Pod"
	name := stored.Name()
	pod.Set(name[:min(len(name), 57)]+"-xxxxx", "metadata", "name") // in place of a random end
	as := *s.admin
	as.User = "system:serviceaccount:kube-system:" + w.controller
	v, err := s.ask(as.Request(wire.MethodPost, "/api/v1/namespaces/"+stored.Namespace()+"/pods", client.Query("dryRun", "All"),
		"application/json", object.JSON(map[string]any(pod))))
	if err != nil || !v.refused() {
		return nil, err
	}
	f := o.finding(Error, strings.Join(w.template, "."), "its pods are refused: "+v.Message)
	f.Reason = v.Reason
	return []Finding{f}, nil
}
