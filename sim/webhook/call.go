package webhook

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// Request is a request by which the server sends a review to a webhook.
type Request struct {
	URL     string // result of Address
	Trusted []byte // result of Bundle
	Plugin  string // admission plugin that makes the call; "" for a conversion
	Review  []byte // JSON

	// Wait waits until a duration has passed on the Cluster's clock or the context is done. It is called without the Cluster's
	// lock. If Wait is nil, Call does not retry: it returns a response with Retry-After like any other.
	Wait func(ctx context.Context, d time.Duration)
}

// Answer is the response of a webhook.
type Answer struct {
	Code        int
	ContentType string
	Body        []byte
}

// BundleError reports that no client can be created for a webhook, because its CA certificates cannot be parsed. Admission has a
// separate message for this error.
type BundleError struct{ Err error }

// Error implements error.
func (e *BundleError) Error() string { return "unable to load root certificates: " + e.Err.Error() }

// Call posts a review to a webhook and returns the final response. It follows redirects, and retries if the webhook requests it. If
// ctx is done, the error is the cause of ctx.
type Call func(ctx context.Context, q *Request) (*Answer, error)

// Ask calls a webhook and returns the body of its response. A response with an error code is an error.
func (call Call) Ask(ctx context.Context, q *Request) ([]byte, error) {
	a, err := call(ctx, q)
	if err != nil {
		return nil, err
	}
	return a.body()
}

// Read decodes the body of a response as a review of the given kind and type. It returns an error if the body cannot be decoded or
// is of another kind.
func Read(body []byte, kind schema.GVK, t *schema.Type) (object.Object, error) {
	return codec.AnsweredAs(body, kind, t, reviewVersions...)
}

// body returns the body of the response. If the response is an error, it returns that error.
func (a *Answer) body() ([]byte, error) {
	contentType := a.ContentType
	if contentType != "" {
		if _, _, err := mime.ParseMediaType(contentType); err != nil {
			return nil, errors.New(status.Internal(err).Message)
		}
	}
	if a.Code < 200 || a.Code > 206 {
		return nil, a.refusal()
	}
	if len(a.Body) == 0 {
		if contentType == "" {
			contentType = "application/json"
		}
		return nil, fmt.Errorf("0-length response with status code: %d and content type: %s", a.Code, contentType)
	}
	return a.Body, nil
}

// textMax is the maximum length of a response body in an error message.
const textMax = 2048

// refusal returns the error for an unsuccessful response: the message of its Status, or the text for its status code
// (apimachinery's errors.NewGenericServerResponse).
func (a *Answer) refusal() error {
	if obj, err := codec.Answered(a.Body); err == nil && obj.Kind() == "Status" && obj.String("status") == "Failure" {
		return errors.New(obj.String("message"))
	}
	text := "unknown"
	if media, _, _ := mime.ParseMediaType(a.ContentType); media == "" || strings.HasPrefix(media, "text/") {
		text = strings.TrimSpace(string(a.Body[:min(len(a.Body), textMax)]))
	}
	if meaning, ok := meanings[a.Code]; ok {
		return errors.New(meaning)
	}
	switch {
	case a.Code == wire.StatusNotAcceptable && (text == "" || text == "unknown"):
		return errors.New("the server was unable to respond with a content type that the client supports")
	case a.Code == wire.StatusForbidden || a.Code == wire.StatusUnsupportedMediaType || a.Code == wire.StatusNotAcceptable:
		return errors.New(text)
	case a.Code >= wire.StatusInternalServerError:
		return fmt.Errorf("an error on the server (%q) has prevented the request from succeeding", text)
	}
	return fmt.Errorf("the server responded with the status code %d but did not return more information", a.Code)
}

// meanings are client-go's error texts for status codes that do not depend on the response body.
var meanings = map[int]string{
	wire.StatusBadRequest:          "the server rejected our request for an unknown reason",
	wire.StatusUnauthorized:        "the server has asked for the client to provide credentials",
	wire.StatusNotFound:            "the server could not find the requested resource",
	wire.StatusMethodNotAllowed:    "the server does not allow this method on the requested resource",
	wire.StatusConflict:            "the server reported a conflict",
	wire.StatusUnprocessableEntity: "the server rejected our request due to an error in our request",
	wire.StatusTooManyRequests:     "the server has received too many requests and has asked us to try again later",
	wire.StatusServiceUnavailable:  "the server is currently unable to handle the request",
	wire.StatusGatewayTimeout: "the server was unable to return a response in the time allotted, " +
		"but may still be processing the request",
}

// Address returns the URL of the webhook that a clientConfig describes. It consists of the host in the url or that of the service,
// the cleaned path (without double or trailing slashes and dots), and the timeout as the only parameter. If the url cannot be
// parsed, Address returns it unchanged.
func Address(config object.Object, timeout time.Duration) string {
	to := url.URL{Scheme: "https"}
	at := config.String("service", "path")
	if config.Map("service") != nil {
		to.Host = serviceHost(config)
	} else {
		u, err := url.Parse(config.String("url"))
		if err != nil {
			return config.String("url")
		}
		to.Scheme, to.Host, at = u.Scheme, u.Host, u.Path
	}
	to.Path = path.Join("/", at)
	to.RawQuery = url.Values{"timeout": {timeout.String()}}.Encode()
	return to.String()
}

// serviceHost returns the host name of a webhook that runs as a service. The certificate of the webhook must be valid for this
// name.
func serviceHost(config object.Object) string {
	port := config.Int64("service", "port")
	return config.String("service", "name") + "." + config.String("service", "namespace") + ".svc:" +
		strconv.FormatInt(cmp.Or(port, 443), 10)
}

// Bundle returns the PEM CA certificates in a clientConfig. If the system's certificates are used, it returns nil.
func Bundle(config object.Object) []byte {
	bundle, err := base64.StdEncoding.DecodeString(config.String("caBundle"))
	if err != nil {
		return nil
	}
	return bundle
}
