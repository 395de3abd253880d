package admission

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/patch"
	"github.com/kubesim/kubesim/sim/schema"
	hooks "github.com/kubesim/kubesim/sim/webhook"
)

// Handler handles an AdmissionReview in place of a server. It receives the review as JSON and returns the same or another review
// with a response. The caller sets missing fields uid, kind and apiVersion.
type Handler func(review map[string]any) map[string]any

// askAll sends the reviews without the Cluster's lock and waits for the responses. It first calls handlers one after the
// other, and then servers, concurrently if the Host supports it.
func (w *webhooks) askAll(a *Attributes, calls []*call) {
	var posted []func()
	for _, c := range calls {
		if c.err != nil {
			continue
		}
		if handle := w.host.Handler(c.hook.name); handle != nil {
			w.handle(a, c, handle)
			continue
		}
		ask, stop := w.post(a, c)
		posted = append(posted, ask)
		defer stop()
	}
	switch len(posted) {
	case 0:
	case 1:
		w.host.Unlocked(posted[0])
	default:
		w.host.Unlocked(func() { w.host.Together(posted) })
	}
}

// handle calls a Handler. If the handler exceeds the timeout of the webhook or of the request, the call fails as if a server had
// been too slow.
func (w *webhooks) handle(a *Attributes, c *call, handle Handler) {
	review, err := object.Parse(c.review)
	if err != nil {
		c.err = err
		return
	}
	ctx, stop := w.within(a, c)
	defer stop()
	sent := review.Copy()
	answers := make(chan object.Object, 1)
	w.host.Unlocked(func() { err = w.host.Run(ctx, func() { answers <- filledIn(handle(map[string]any(sent)), review) }) })
	if err != nil {
		c.err = callFailure{fmt.Errorf("failed to call webhook: Post %q: %w", hooks.Address(c.hook.At("clientConfig"), w.left(a, c)), err)}
		return
	}
	c.answer = object.JSON(map[string]any(<-answers))
}

// within returns a context that is done when the webhook's timeoutSeconds have passed on the Cluster's clock, or when the request
// must end.
func (w *webhooks) within(a *Attributes, c *call) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(a.Deadline.Context())
	forget := w.host.After(c.hook.timeout(), func() { cancel(context.DeadlineExceeded) })
	return ctx, func() { forget(); cancel(nil) }
}

// left returns the timeout that is sent to the webhook, in whole seconds: its timeoutSeconds, or the remaining time of
// the request if that is shorter.
func (w *webhooks) left(a *Attributes, c *call) time.Duration {
	limit := c.hook.timeout()
	if left, ok := a.Deadline.Left(); ok && left < limit {
		limit = (left + time.Second - 1).Truncate(time.Second)
	}
	return limit
}

// filledIn returns a copy of a Handler's result in which a missing kind, apiVersion and uid are set as in the review. If answer is
// nil, the copy has no response.
func filledIn(answer, review object.Object) object.Object {
	if answer == nil {
		return object.Object{"kind": review["kind"], "apiVersion": review["apiVersion"]}
	}
	answer = answer.Copy()
	answer.SetDefault(review["kind"], "kind")
	answer.SetDefault(review["apiVersion"], "apiVersion")
	if answer.Map("response") != nil {
		answer.SetDefault(review.String("request", "uid"), "response", "uid")
	}
	return answer
}

func (h *webhook) timeout() time.Duration {
	return time.Duration(h.Int64("timeoutSeconds")) * time.Second // the default is already set
}

// post returns a function that sends the review to the webhook's URL, and a function that stops the timeout. The timeout
// begins immediately.
func (w *webhooks) post(a *Attributes, c *call) (ask, stop func()) {
	config := c.hook.At("clientConfig")
	q := &hooks.Request{URL: hooks.Address(config, w.left(a, c)), Trusted: hooks.Bundle(config), Plugin: w.plugin,
		Review: c.review, Wait: w.host.Wait}
	ctx, stop := w.within(a, c)
	return func() {
		var err error
		if c.answer, err = hooks.Call(w.host.Call).Ask(ctx, q); err == nil {
			return
		}
		if c.noService != "" && errors.Is(err, ErrNoCall) {
			err = fmt.Errorf("Post %q: service %q not found", q.URL, c.noService)
		}
		if bundle := (*hooks.BundleError)(nil); errors.As(err, &bundle) {
			c.err = callFailure{fmt.Errorf("could not get REST client: %w", bundle)}
			return
		}
		c.err = callFailure{fmt.Errorf("failed to call webhook: %w", err)}
	}, stop
}

// verify returns the response in an AdmissionReview. It returns an error if there is none, or if the review has the wrong uid or
// version.
func (w *webhooks) verify(answer object.Object, uid, version string) (object.Object, error) {
	response := answer.At("response")
	if response == nil {
		return nil, errors.New("webhook response was absent")
	}
	if version != "v1" { // the real server does not check earlier versions
		if response.String("patch") != "" {
			response.Set("JSONPatch", "patchType")
		}
		return response, nil
	}
	if got := response.String("uid"); got != uid {
		return nil, fmt.Errorf("expected response.uid=%q, got %q", uid, got)
	}
	want := schema.GVK{Group: "admission.k8s.io", Version: "v1", Kind: "AdmissionReview"}
	if got := schema.ParseGVK(answer.APIVersion(), answer.Kind()); got != want {
		return nil, fmt.Errorf("expected webhook response of %v, got %v", want, got)
	}
	patch := response.String("patch")
	_, typed := response.Get("patchType")
	switch {
	case w.mutating && patch != "" && !typed:
		return nil, errors.New("webhook returned response.patch but not response.patchType")
	case w.mutating && patch == "" && typed:
		return nil, errors.New("webhook returned response.patchType but not response.patch")
	case w.mutating && typed && response.String("patchType") == "":
		return nil, fmt.Errorf("webhook returned invalid response.patchType of %q", "")
	case !w.mutating && patch != "":
		return nil, errors.New("validating webhook may not return response.patch")
	case !w.mutating && typed:
		return nil, errors.New("validating webhook may not return response.patchType")
	}
	return response, nil
}

// patch applies the patch of a response to the draft. It reports whether the draft changed.
func (w *webhooks) patch(a *Attributes, c *call, response object.Object) (changed bool, err error) {
	if response.String("patch") == "" {
		return false, nil
	}
	text, err := base64.StdEncoding.DecodeString(response.String("patch"))
	var ops patch.JSONOperations
	if err == nil {
		ops, err = patch.ReadOperations(text)
	}
	switch {
	case err != nil:
		return false, callFailure{fmt.Errorf("received undecodable patch in webhook response: %w", err)}
	case len(ops) == 0:
		return false, nil
	case a.Object == nil:
		return false, fmt.Errorf("admission webhook %q attempted to modify the object, which is not supported for this operation", c.hook.name)
	}
	if kind := response.String("patchType"); kind != "JSONPatch" {
		return false, callFailure{fmt.Errorf("unsupported patch type %q", kind)}
	}
	if changed, err = a.draft.patch(a, w.host, ops); err == nil {
		c.annotate(a, "patch", c.hook.patched(ops))
	}
	return changed, err
}
