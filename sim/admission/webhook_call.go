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

// Handler answers an AdmissionReview in place of a server. It gets the review as JSON and returns it, or another one,
// with a response; uid, kind and apiVersion are filled in.
type Handler func(review map[string]any) map[string]any

// askAll sends the reviews, without the Cluster's lock, and waits for the answers. Handlers are called first, one after the other;
// then servers, in parallel if the Host can do that.
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

// handle calls a Handler. If it exceeds the timeout of the webhook or of the request, it fails like a server that is too slow.
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

// within returns a context that ends when the webhook has taken timeoutSeconds of the Cluster's time, which begin now, and when the
// request has to end.
func (w *webhooks) within(a *Attributes, c *call) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(a.Deadline.Context())
	forget := w.host.After(c.hook.timeout(), func() { cancel(context.DeadlineExceeded) })
	return ctx, func() { forget(); cancel(nil) }
}

// left returns the timeout of the webhook, in whole seconds as it is sent: its timeoutSeconds, or the remaining time of the request
// if that is less.
func (w *webhooks) left(a *Attributes, c *call) time.Duration {
	limit := c.hook.timeout()
	if left, ok := a.Deadline.Left(); ok && left < limit {
		limit = (left + time.Second - 1).Truncate(time.Second)
	}
	return limit
}

// filledIn copies into the answer of a Handler what it need not repeat.
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
	return time.Duration(h.Int64("timeoutSeconds")) * time.Second // a default sets it
}

// post returns what carries the review to the webhook's URL, and what releases the timer that begins now.
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

// verify returns the response of an answer, if it is one to the review with the uid.
func (w *webhooks) verify(answer object.Object, uid, version string) (object.Object, error) {
	response := answer.At("response")
	if response == nil {
		return nil, errors.New("webhook response was absent")
	}
	if version != "v1" { // earlier versions were not checked
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

// patch applies the patch of a response to the draft. It reports whether that changed the draft.
func (w *webhooks) patch(a *Attributes, h *webhook, response object.Object) (changed bool, err error) {
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
		return false, fmt.Errorf("admission webhook %q attempted to modify the object, which is not supported for this operation", h.name)
	}
	if kind := response.String("patchType"); kind != "JSONPatch" {
		return false, callFailure{fmt.Errorf("unsupported patch type %q", kind)}
	}
	return a.draft.patch(a, w.host, ops)
}
