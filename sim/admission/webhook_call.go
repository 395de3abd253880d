package admission

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/http"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// Handler answers an AdmissionReview in place of a server. It gets the review as JSON and returns it, or another one,
// with a response; uid, kind and apiVersion are filled in.
type Handler func(review map[string]any) map[string]any

// responseMax is how much of a webhook's answer is read.
const responseMax = 8 << 20

// askAll sends the reviews, without the Cluster's lock, and waits for the answers. Handlers are asked one after the other,
// servers at the same time where the Host can do that.
func (w *webhooks) askAll(calls []*call) {
	var handled, posted []func()
	for _, c := range calls {
		if c.err != nil {
			continue
		}
		if handle := w.handler(c.hook); handle != nil {
			sent := c.review.Copy()
			handled = append(handled, func() { c.answer = filledIn(handle(map[string]any(sent)), c.review) })
			continue
		}
		if ask, stop := w.post(c); c.err == nil {
			posted = append(posted, ask)
			defer stop()
		}
	}
	if len(handled) > 0 {
		posted = append([]func(){func() {
			for _, ask := range handled {
				ask()
			}
		}}, posted...)
	}
	if len(posted) > 0 {
		w.host.outside(func() { w.host.together(posted) })
	}
}

// handler returns what answers a webhook in place of a server, or nil.
func (w *webhooks) handler(h *webhook) Handler {
	if w.host.Handlers == nil {
		return nil
	}
	return w.host.Handlers(h.name)
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

// address returns the URL of a webhook: its own, or that of its service.
func (h *webhook) address() string {
	address := h.String("clientConfig", "url")
	if service := object.Object(h.Map("clientConfig", "service")); service != nil {
		port, ok := service.Int("port")
		if !ok {
			port = 443
		}
		address = fmt.Sprintf("https://%s.%s.svc:%d/%s", service.String("name"), service.String("namespace"), port,
			strings.TrimPrefix(service.String("path"), "/"))
	}
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	query := u.Query()
	query.Set("timeout", h.timeout().String())
	u.RawQuery = query.Encode()
	return u.String()
}

func (h *webhook) timeout() time.Duration {
	seconds, ok := h.Int("timeoutSeconds")
	if !ok {
		seconds = 10
	}
	return time.Duration(seconds) * time.Second
}

// post returns what carries the review to the webhook's URL. The timeoutSeconds of the Cluster's time begin now; stop
// ends them.
func (w *webhooks) post(c *call) (ask, stop func()) {
	fail := func(err error) { c.err = callFailure{fmt.Errorf("failed to call webhook: %w", err)} }
	address := c.hook.address()
	if w.host.Transport == nil {
		fail(fmt.Errorf("Post %q: kubesim has no transport for webhooks: register a handler or set one", address))
		return nil, nil
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	body := bytes.NewReader(object.JSON(map[string]any(c.review)))
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, body)
	if err != nil {
		cancel(nil)
		fail(err)
		return nil, nil
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, */*")
	request.Header.Set("User-Agent", "kube-apiserver-admission")
	stop = func() { cancel(nil) }
	if w.host.After != nil {
		forget := w.host.After(c.hook.timeout(), func() { cancel(context.DeadlineExceeded) })
		stop = func() { forget(); cancel(nil) }
	}
	return func() {
		code, data, err := carry(w.host.Transport, request)
		if err == nil {
			if c.answer, err = readAnswer(code, data); err != nil {
				fail(err)
			}
			return
		}
		if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
			err = cause
		}
		if c.noService != "" && errors.Is(err, ErrNoTransport) {
			err = fmt.Errorf("service %q not found", c.noService)
		}
		fail(fmt.Errorf("Post %q: %w", address, err))
	}, stop
}

// carry returns the answer to a request.
func carry(transport http.RoundTripper, request *http.Request) (code int, body []byte, err error) {
	response, err := transport.RoundTrip(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(io.LimitReader(response.Body, responseMax))
	return response.StatusCode, body, err
}

// readAnswer reads the body of a webhook's answer, or says what is wrong with its code, in the words of the client that
// the real server uses.
func readAnswer(code int, body []byte) (object.Object, error) {
	answer, err := object.Parse(body)
	if code >= 200 && code <= 206 {
		if err != nil {
			return nil, fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
		}
		return answer, nil
	}
	if err == nil && answer.Kind() == "Status" && answer.String("message") != "" {
		return nil, errors.New(answer.String("message"))
	}
	switch text := strings.TrimSpace(string(body)); {
	case code == http.StatusNotFound:
		return nil, errors.New("the server could not find the requested resource")
	case code == http.StatusUnauthorized:
		return nil, errors.New("the server has asked for the client to provide credentials")
	case code == http.StatusForbidden:
		return nil, errors.New(text)
	case code == http.StatusBadRequest:
		return nil, errors.New("the server rejected our request for an unknown reason")
	case code >= http.StatusInternalServerError:
		return nil, fmt.Errorf("an error on the server (%s) has prevented the request from succeeding", strconv.Quote(text))
	}
	return nil, fmt.Errorf("the server responded with the status code %d but did not return more information", code)
}

// verify returns the response of an answer, if it is one to the review with the uid.
func (w *webhooks) verify(answer object.Object, uid, version string) (object.Object, error) {
	response := object.Object(answer.Map("response"))
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

// patch applies the patch of a response to the object of the write.
func (w *webhooks) patch(a *Attributes, h *webhook, d *resource.Definition, response object.Object) error {
	if response.String("patch") == "" {
		return nil
	}
	patch, err := base64.StdEncoding.DecodeString(response.String("patch"))
	if err == nil {
		err = checkPatch(patch)
	}
	if err != nil {
		return callFailure{fmt.Errorf("received undecodable patch in webhook response: %w", err)}
	}
	if a.Object == nil {
		return fmt.Errorf("admission webhook %q attempted to modify the object, which is not supported for this operation", h.name)
	}
	if kind := response.String("patchType"); kind != "JSONPatch" {
		return callFailure{fmt.Errorf("unsupported patch type %q", kind)}
	}
	data, tested, err := w.host.Patch(object.JSON(map[string]any(a.version(a.Object, d))), patch)
	if err == nil && !tested {
		err = errors.New("testing value failed")
	}
	if err != nil {
		return err
	}
	d = a.shownAs(d)
	obj, err := w.host.Decode(d, data)
	if err != nil {
		return err
	}
	if s := a.replace(obj, d); s != nil {
		return s
	}
	return nil
}

// checkPatch reports whether a patch is a list of operations.
func checkPatch(patch []byte) error {
	v, err := object.Parse(append(append([]byte(`{"patch":`), patch...), '}'))
	if err != nil {
		return err
	}
	for _, op := range v.List("patch") {
		if _, ok := op.(map[string]any); !ok {
			return errors.New("json: cannot unmarshal into Go value of type jsonpatch.Operation")
		}
	}
	if _, ok := v["patch"].([]any); !ok {
		return errors.New("json: cannot unmarshal object into Go value of type jsonpatch.Patch")
	}
	return nil
}
