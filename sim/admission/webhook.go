package admission

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
	hooks "github.com/kubesim/kubesim/sim/webhook"
	"github.com/kubesim/kubesim/sim/wire"
)

// The storage names of webhook configurations.
const (
	mutatingConfigurations   = "mutatingwebhookconfigurations.admissionregistration.k8s.io"
	validatingConfigurations = "validatingwebhookconfigurations.admissionregistration.k8s.io"
)

// webhooks contains the webhooks of one kind. Each configuration is parsed on first use.
type webhooks struct {
	host     *Server
	plugin   string
	storage  string
	mutating bool
	read     map[string]*configuration // parsed configurations by name
}

// configuration is a parsed webhook configuration.
type configuration struct {
	source []any // the webhooks as in the stored object
	hooks  []*webhook
}

// webhook is one webhook of a configuration.
type webhook struct {
	object.Object
	name       string // name of the webhook
	key        string // unique among all configurations
	fail       bool   // failurePolicy Fail
	criteria   *criteria
	conditions []*cel.Program
}

func newWebhooks(h *Server, plugin, storage string) *webhooks {
	return &webhooks{host: h, plugin: plugin, storage: storage, mutating: storage == mutatingConfigurations, read: map[string]*configuration{}}
}

// hooks returns the webhooks in the order in which they are called. Since 1.37 it returns none for virtual resources such as access
// reviews: a webhook that does not respond could lock out all users.
func (w *webhooks) hooks(a *Attributes) []*webhook {
	configurations := w.host.manifests[w.storage]
	switch {
	case a.Definition.Hub.Strategy.Virtual && a.Enabled("ExcludeAdmissionWebhookVirtualResources"):
		return nil
	case !a.isOneOf(policyResources) && !a.isOneOf(webhookResources):
		configurations = slices.Concat(configurations, a.Objects.All(w.storage, ""))
	}
	var list []*webhook
	for _, obj := range configurations {
		list = append(list, w.configuration(a, obj).hooks...)
	}
	if len(list) > 0 {
		a.parseFieldsV1()
	}
	return list
}

// configuration returns the parsed configuration. It parses the configuration again if its webhooks have changed.
func (w *webhooks) configuration(a *Attributes, obj object.Object) *configuration {
	source := obj.List("webhooks")
	if c := w.read[obj.Name()]; c != nil && object.Equal(c.source, source) {
		return c
	}
	c := &configuration{source: source}
	for _, v := range object.ObjectsOf(source) {
		h := &webhook{Object: v, name: v.String("name"), fail: v.String("failurePolicy") != "Ignore", criteria: newCriteria(v, "rules")}
		h.key = obj.Name() + "/" + h.name
		if conditions := v.Objects("matchConditions"); len(conditions) > 0 {
			compiler := cel.NewCompiler(a.expressions(), expr.Declarations{Authorizer: true})
			for _, m := range conditions {
				h.conditions = append(h.conditions, compiler.Compile(m.String("expression"), expr.Bool))
			}
		}
		c.hooks = append(c.hooks, h)
	}
	w.read[obj.Name()] = c
	return c
}

// match returns the version in which a webhook receives a write, or nil if the webhook does not match.
func (w *webhooks) match(a *Attributes, h *webhook) (*resource.Definition, *status.Status) {
	d, s := h.criteria.match(a, w.host)
	if d == nil || s != nil || len(h.conditions) == 0 {
		return d, s
	}
	if s := w.prepare(a, d); s != nil {
		return nil, s
	}
	in, err := a.input(w.host, d, params{})
	if err != nil {
		return nil, status.Internal(err)
	}
	ok, err := matchConditions(h.conditions, in)
	switch {
	case err != nil && h.fail:
		return nil, status.Forbidden(a.Definition.GroupResource(), a.Name, err.Error())
	case err != nil || !ok:
		return nil, nil
	}
	return d, nil
}

// mutate calls the mutating webhooks one after the other, sorted by the names of their configurations (Kubernetes
// documentation, "Dynamic Admission Control").
func (w *webhooks) mutate(a *Attributes) *status.Status {
	hooks := w.hooks(a)
	if len(hooks) == 0 {
		return nil
	}
	round := a.round(w.plugin)
	defer func() { a.draft = nil }()
	for i, h := range hooks {
		d, s := w.match(a, h)
		if s != nil {
			return s
		}
		if d == nil || !round.calls(h.key) {
			continue
		}
		if s := w.prepare(a, d); s != nil {
			return s
		}
		c, err := w.newCall(a, h, d)
		if err != nil {
			return status.Internal(err)
		}
		c.index = i
		w.askAll(a, []*call{c})
		changed, err := w.conclude(a, c)
		c.annotate(a, "mutation", c.hook.mutation(changed))
		if s := w.finish(a, c, err); s != nil {
			return s
		}
		round.called(h.key, changed, h.String("reinvocationPolicy") == "IfNeeded")
	}
	if err := a.applyDraft(w.host); err != nil {
		return status.Plain("%v", err)
	}
	round.done(a)
	return nil
}

// prepare converts the draft for mutating webhooks to version d.
func (w *webhooks) prepare(a *Attributes, d *resource.Definition) *status.Status {
	if !w.mutating {
		return nil
	}
	if err := a.draftIn(w.host, d); err != nil {
		return status.Internal(status.Internal(err)) // the real server's message contains the prefix twice
	}
	return nil
}

// validate calls all validating webhooks concurrently, so that their timeouts all begin at the same time. The real server
// returns the rejection that arrives first; this one returns that of the first webhook.
func (w *webhooks) validate(a *Attributes) *status.Status {
	var calls []*call
	for _, h := range w.hooks(a) {
		d, s := w.match(a, h)
		if s != nil {
			return s
		}
		if d == nil {
			continue
		}
		c, err := w.newCall(a, h, d)
		if err != nil {
			return status.Internal(err)
		}
		c.index = len(calls)
		calls = append(calls, c)
	}
	w.askAll(a, calls)
	var first *status.Status
	for _, c := range calls {
		_, err := w.conclude(a, c)
		if s := w.finish(a, c, err); s != nil && first == nil {
			first = s
		}
	}
	return first
}

// callFailure is a failure to call a webhook or to decode its response. The failurePolicy determines its effect.
type callFailure struct{ error }

// finish converts the outcome of a call to a Status. If the failure is ignored but the request's deadline has passed, it
// returns a timeout error.
func (w *webhooks) finish(a *Attributes, c *call, err error) *status.Status {
	h := c.hook
	var failed callFailure
	var refused *status.Status
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failed):
		if !h.fail && a.Deadline.Err() != nil {
			return status.Timeout("request did not complete within requested timeout", 0)
		}
		if !h.fail {
			c.annotate(a, map[bool]string{true: "failed-open.mutation", false: "failed-open.validating"}[w.mutating], h.name)
			return nil
		}
		return status.Internal(fmt.Errorf("failed calling webhook %q: %v", h.name, failed.error))
	case errors.As(err, &refused):
		return refused
	}
	return status.Internal(err)
}

// call is a single call to a webhook. Each step may set err, which ends the call.
//
//	newCall ─ review ─▶ askAll ─ answer ─▶ conclude ─▶ nil, a rejection, or an error
type call struct {
	hook    *webhook
	index   int    // among the webhooks: all mutating ones, or the validating ones that are called
	version string // version of the review
	uid     string
	review  []byte
	answer  []byte
	err     error

	noService string // name of the webhook's service if it does not exist
}

// ErrNoCall is the error of Host.Call if the host cannot call webhooks.
var ErrNoCall = errors.New("kubesim: the server cannot call admission webhooks: register a function, or set a transport")

// newCall prepares a call to webhook h for a write that matches in version d. It returns an error if a conversion fails. If the
// webhook cannot be called for another reason, it sets the call's err.
func (w *webhooks) newCall(a *Attributes, h *webhook, d *resource.Definition) (*call, error) {
	c := &call{hook: h}
	if service := h.At("clientConfig", "service"); service != nil {
		if name := service.String("name"); a.Objects.Get("services", service.String("namespace"), name) == nil {
			c.noService = name
		}
	}
	if effects := h.String("sideEffects"); a.DryRun && effects != "None" && effects != "NoneOnDryRun" {
		c.err = status.BadRequest("admission webhook %q does not support dry run", h.name)
		return c, nil
	}
	if c.version = hooks.ReviewVersion(h.Strings("admissionReviewVersions")); c.version == "" {
		c.err = callFailure{errors.New("could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)")}
		return c, nil
	}
	c.uid = a.UID()
	var err error
	c.review, err = w.review(a, d, c.version, c.uid)
	return c, err
}

// conclude decodes the response and applies its patch. It reports whether the patch changed the object.
func (w *webhooks) conclude(a *Attributes, c *call) (changed bool, err error) {
	if c.err != nil {
		return false, c.err
	}
	kind := schema.GVK{Group: reviewGroup, Version: c.version, Kind: "AdmissionReview"}
	answer, err := hooks.Read(c.answer, kind, w.host.reviewType(c.version))
	if err != nil {
		return false, callFailure{fmt.Errorf("failed to call webhook: %w", err)}
	}
	response, err := w.verify(answer, c.uid, c.version)
	if err != nil {
		return false, callFailure{fmt.Errorf("received invalid webhook response: %w", err)}
	}
	notes := response.At("auditAnnotations")
	for _, key := range object.SortedKeys(notes) {
		a.Annotate(c.hook.name+"/"+key, notes.String(key))
	}
	for _, text := range response.Strings("warnings") {
		a.Warn(text)
	}
	if !response.True("allowed") {
		return false, denied(c.hook.name, response.At("status"))
	}
	if !w.mutating {
		return false, nil
	}
	return w.patch(a, c, response)
}

// denied returns the Status for a write that a webhook rejects: the status in the response, with a message that contains the
// webhook's name.
func denied(name string, o object.Object) *status.Status {
	s := &status.Status{Code: wire.StatusBadRequest, Reason: status.Reason(o.String("reason")), Sent: &status.Sent{}}
	if word := o.String("status"); word != "Success" {
		s.Sent.Word = word
	}
	meta := o.At("metadata")
	s.Sent.SelfLink, s.Sent.ResourceVersion, s.Continue = meta.String("selfLink"), meta.String("resourceVersion"), meta.String("continue")
	if n, ok := meta.Int("remainingItemCount"); ok {
		s.Sent.RemainingItemCount = &n
	}
	if code := o.Int64("code"); code >= wire.StatusBadRequest {
		s.Code = int(code)
	}
	by := fmt.Sprintf("admission webhook %q denied the request", name)
	switch {
	case o.String("message") != "":
		s.Message = by + ": " + o.String("message")
	case s.Reason != "":
		s.Message = by + ": " + string(s.Reason)
	default:
		s.Message = by + " without explanation"
	}
	if details := o.At("details"); details != nil {
		s.Details = &status.Details{Name: details.String("name"), Group: details.String("group"), Kind: details.String("kind"), UID: details.String("uid"),
			RetryAfterSeconds: int(details.Int64("retryAfterSeconds"))}
		for _, c := range details.Objects("causes") {
			s.Details.Causes = append(s.Details.Causes, status.Cause{Reason: c.String("reason"), Message: c.String("message"), Field: c.String("field")})
		}
	}
	return s
}
