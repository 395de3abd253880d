package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// StepResult is the result of one step.
type StepResult struct {
	Name        string
	Target      string   // the request target as sent; empty for a control
	Differences []string // empty if the response agrees with the recording
	Want, Got   any      // the recorded and the normalised response
}

// Agrees reports whether there are no differences.
func (r StepResult) Agrees() bool { return len(r.Differences) == 0 }

// Run replays a case and compares each response with its recording.
func Run(ctx context.Context, t Target, c Case) []StepResult {
	if err := t.ready(c); err != nil {
		return failAll(c, err)
	}
	r := runner{ctx: ctx, target: t, values: values{"ns": ""}, norm: newNormaliser("")}
	if !c.NoNamespace {
		ns := t.namespace(c)
		r.values["ns"], r.norm = ns, newNormaliser(ns)
		if err := r.createNamespace(ns); err != nil {
			return failAll(c, fmt.Errorf("creating the namespace: %w", err))
		}
		defer r.deleteNamespace(ns)
	}
	if t.tidy {
		defer r.deleteCreated()
	}
	var out []StepResult
	for _, s := range c.Steps {
		got, target, err := r.perform(s)
		result := c.result(s, got, err)
		result.Target = target
		out = append(out, result)
	}
	return out
}

// result compares the response to a step with its recording. A non-nil err means that there was no response.
func (c Case) result(s Step, got any, err error) StepResult {
	out := StepResult{Name: s.Name, Want: c.Recorded(s.Name)}
	switch {
	case err != nil:
		out.Differences = []string{err.Error()}
	case out.Want == nil:
		out.Got, out.Differences = got, []string{"no recording"}
	default:
		out.Got, out.Differences = got, difference(out.Want, got, "")
	}
	return out
}

// ready returns an error if a case cannot run on the target.
func (t Target) ready(c Case) error {
	switch {
	case c.Minor() != "" && t.Minor != "" && c.Minor() != t.Minor:
		return errors.New("needs a server of Kubernetes " + c.Minor())
	case c.Area == AllVersions && t.DefaultAPI:
		return errors.New("needs a server with --runtime-config=api/all=true")
	case strings.HasPrefix(c.Area, Workloads) && t.NoWorkloads:
		return errors.New("needs a server with the feature gates of WorkloadGates")
	case c.Area == DualStack && t.SingleStack:
		return errors.New("needs a server with --service-cluster-ip-range=10.0.0.0/24,fd00::/112")
	case c.Scheduled != t.Scheduled:
		return errors.New("needs a server with a scheduler, or one without")
	case c.NeedsSecond() && t.Second == nil:
		return errors.New("needs two API servers over one store")
	case c.NeedsControl() && t.NoControl:
		return errors.New("needs a store that can be compacted")
	case t.Advance != nil && t.Settle == nil:
		return errors.New("conformance: Target.Advance needs Target.Settle")
	}
	return nil
}

func failAll(c Case, err error) []StepResult {
	var out []StepResult
	for _, s := range c.Steps {
		out = append(out, c.result(s, nil, err))
	}
	return out
}

// runner is a case in progress.
type runner struct {
	ctx    context.Context
	target Target
	values values
	norm   *normaliser

	created []string // the paths of the objects that the case created, if the target is tidied
}

func (r *runner) createNamespace(ns string) error {
	_, err := request{
		method: http.MethodPost, target: "/api/v1/namespaces",
		headers: []Header{{"Content-Type", "application/json"}},
		body:    []byte(`{"metadata": {"name": "` + ns + `"}}`),
	}.send(r.ctx, r.target)
	return err
}

// deleteNamespace deletes the namespace. It ignores errors, because no other case uses the name.
func (r *runner) deleteNamespace(ns string) {
	path := "/api/v1/namespaces/" + ns
	_, _ = request{method: http.MethodDelete, target: path}.send(r.ctx, r.target)
	if r.target.tidy {
		r.finalize(path)
	}
}

// noteCreated records the path of an object that a request has created. It skips objects without a path, such as
// reviews.
func (r *runner) noteCreated(req request, answer []byte) {
	path, _, _ := strings.Cut(req.target, "?")
	if req.method == http.MethodPost {
		v, err := Decode(answer)
		name := textAt(v, "metadata", "name")
		if err != nil {
			name = Step{Body: string(req.body)}.ObjectName()
		}
		if name == "" {
			return
		}
		path += "/" + name
	}
	r.created = append(r.created, path)
}

// deleteCreated deletes the objects that the case created, newest first, after removing their finalizers. It ignores
// errors, and does not check whether a finalizer was added again.
func (r *runner) deleteCreated() {
	for _, path := range slices.Backward(r.created) {
		for _, q := range []request{
			{method: http.MethodPatch, target: path, headers: []Header{{"Content-Type", MergePatch}},
				body: []byte(`{"metadata":{"finalizers":null}}`)},
			{method: http.MethodDelete, target: path + "?gracePeriodSeconds=0&propagationPolicy=Background"},
		} {
			_, _ = q.send(r.ctx, r.target)
		}
		r.finalize(path)
	}
}

// finalize finalizes a deleted namespace, because a server without a namespace controller never removes it.
func (r *runner) finalize(path string) {
	name, ok := strings.CutPrefix(path, "/api/v1/namespaces/")
	if ok && !strings.Contains(name, "/") {
		_, _ = request{method: http.MethodPut, target: path + "/finalize", headers: []Header{{"Content-Type", "application/json"}},
			body: []byte(`{"metadata":{"name":"` + name + `"}}`)}.send(r.ctx, r.target)
	}
}

// perform sends the request of a step and returns the normalised response and the target as sent.
func (r *runner) perform(s Step) (any, string, error) {
	if s.Sleep > 0 {
		r.target.sleep(s.Sleep)
	}
	out := newObject()
	if s.Control != "" {
		out.Set("control", s.Control)
		return out, "", r.target.control(r.ctx, s.Control)
	}
	req, err := s.build(r.values)
	if err != nil {
		return nil, "", err
	}
	e, err := r.sendUntil(req, s)
	if err != nil {
		return nil, req.target, err
	}
	if r.target.tidy && e.status == http.StatusCreated {
		r.noteCreated(req, e.body)
	}
	headers := keptHeaders(e.header, s.Keep)
	body, err := r.body(s, e)
	if err != nil {
		return nil, req.target, err
	}
	for _, k := range headers.Keys {
		headers.Set(k, r.norm.text(headers.Members[k].(string)))
	}
	out.Set("status", Int(strconv.Itoa(e.status)))
	out.Set("headers", headers)
	out.Set("body", body)
	return out, req.target, nil
}

// filling is the error of a real server for the first request after a definition has changed, while it initializes a
// new watch cache. Clients retry, and Ask retries fillingMax times.
const (
	filling    = "storage is (re)initializing"
	fillingMax = 5
)

// sendUntil sends the request of a step. If the step waits for a status, it repeats the request every 0.05 s.
func (r *runner) sendUntil(req request, s Step) (exchange, error) {
	t := r.target
	if s.Second {
		t.URL, t.Transport = t.Second.URL, t.Second.Transport
	}
	const pause = 50 * time.Millisecond
	for waited := time.Duration(0); ; waited += pause {
		e, err := req.send(r.ctx, t)
		for again := 0; err == nil && t.tidy && s.Until == nil && again < fillingMax && e.status == http.StatusTooManyRequests && bytes.Contains(e.body, []byte(`"`+filling+`"`)); again++ {
			t.sleep(time.Second)
			e, err = req.send(r.ctx, t)
		}
		if err != nil || s.Until == nil || strconv.Itoa(e.status) == s.Until.Status || waited > s.Until.Within {
			return e, err
		}
		t.sleep(pause)
	}
}

// alwaysKept are the response headers that every recording contains, if the response has them.
var alwaysKept = []string{"allow", "content-encoding", "content-type", "location", "retry-after", "warning"}

func keptHeaders(h http.Header, more []string) *Object {
	out := newObject()
	for _, name := range alwaysKept {
		if v := h.Values(name); len(v) > 0 {
			out.Set(name, strings.Join(v, " | "))
		}
	}
	for _, x := range more {
		name, present := strings.TrimRight(x, "=*"), strings.HasSuffix(x, "=*")
		switch v := h.Values(name); {
		case len(v) == 0:
		case present:
			out.Set(name, "<present>")
		default:
			out.Set(name, strings.Join(v, " | "))
		}
	}
	return out
}

// body returns the normalised body of a response, and stores the response for later steps.
func (r *runner) body(s Step, e exchange) (any, error) {
	if e.events != nil {
		answer := newObject()
		answer.Set("events", e.events)
		r.values[s.Name] = answer
		v := Clone(answer).(*Object)
		if s.Watch.End {
			v.Set("ended", e.ended)
		}
		return r.structured(v, s)
	}
	v, err := Decode(e.body)
	if err == nil {
		r.values[s.Name] = v
	}
	switch {
	case s.Raw:
		return r.raw(e.body), nil
	case err == nil:
		return r.structured(Clone(v), s)
	case bytes.HasPrefix(e.body, []byte("k8s\x00")) || bytes.IndexByte(e.body, 0) >= 0 && !ascii(e.body):
		return r.norm.text(binary(e.body)), nil
	}
	return r.norm.text(lenient(e.body)), nil
}

func (r *runner) structured(v any, s Step) (any, error) {
	if text, ok := v.(string); ok {
		return r.norm.text(text), nil
	}
	if err := reduce(v, s, r.values); err != nil {
		return nil, err
	}
	return r.norm.value(v, "", ""), nil
}

// raw returns a body as text, with labels for its resourceVersions.
func (r *runner) raw(body []byte) string {
	text := lenient(body)
	for _, m := range rvInText.FindAllStringSubmatch(text, -1) {
		if _, isList := r.norm.labels("listrv").of[m[1]]; m[1] != "0" && !isList {
			r.norm.label("rv", m[1])
		}
	}
	return r.norm.text(text)
}

// lenient decodes UTF-8 and replaces each invalid byte with U+FFFD.
func lenient(data []byte) string { return string([]rune(string(data))) }

func ascii(data []byte) bool {
	return !slices.ContainsFunc(data, func(c byte) bool { return c > 127 })
}

// ObjectName returns the metadata.name of the step's body, or "".
func (s Step) ObjectName() string {
	body, err := Decode([]byte(s.Body))
	if err != nil {
		return ""
	}
	return textAt(body, "metadata", "name")
}
