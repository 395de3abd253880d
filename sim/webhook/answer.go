package webhook

import (
	"errors"
	"fmt"
	"mime"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/http"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// object reads the answer, or says what is wrong with it.
func (a *answer) object() (object.Object, error) {
	contentType := a.header.Get("Content-Type")
	if contentType != "" {
		if _, _, err := mime.ParseMediaType(contentType); err != nil {
			return nil, errors.New(status.Internal(err).Message)
		}
	}
	if a.code < 200 || a.code > 206 {
		return nil, a.refusal()
	}
	if len(a.body) == 0 {
		if contentType == "" {
			contentType = "application/json"
		}
		return nil, fmt.Errorf("0-length response with status code: %d and content type: %s", a.code, contentType)
	}
	return codec.Answered(a.body)
}

// textMax is how much of a text is read for an error.
const textMax = 2048

// refusal returns the error of an answer with an error's code: the message of its Status, or what the code means
// (apimachinery's errors.NewGenericServerResponse).
func (a *answer) refusal() error {
	if obj, err := codec.Answered(a.body); err == nil && obj.Kind() == "Status" && obj.String("status") == "Failure" {
		return errors.New(obj.String("message"))
	}
	text := "unknown"
	if media, _, _ := mime.ParseMediaType(a.header.Get("Content-Type")); media == "" || strings.HasPrefix(media, "text/") {
		text = strings.TrimSpace(string(a.body[:min(len(a.body), textMax)]))
	}
	if meaning, ok := meanings[a.code]; ok {
		return errors.New(meaning)
	}
	switch {
	case a.code == http.StatusForbidden || a.code == http.StatusUnsupportedMediaType:
		return errors.New(text)
	case a.code == http.StatusNotAcceptable && (text == "" || text == "unknown"):
		return errors.New("the server was unable to respond with a content type that the client supports")
	case a.code == http.StatusNotAcceptable:
		return errors.New(text)
	case a.code >= http.StatusInternalServerError:
		return fmt.Errorf("an error on the server (%q) has prevented the request from succeeding", text)
	}
	return fmt.Errorf("the server responded with the status code %d but did not return more information", a.code)
}

// meanings are what the client says of codes, whatever the webhook says.
var meanings = map[int]string{
	http.StatusBadRequest:          "the server rejected our request for an unknown reason",
	http.StatusUnauthorized:        "the server has asked for the client to provide credentials",
	http.StatusNotFound:            "the server could not find the requested resource",
	http.StatusMethodNotAllowed:    "the server does not allow this method on the requested resource",
	http.StatusConflict:            "the server reported a conflict",
	http.StatusUnprocessableEntity: "the server rejected our request due to an error in our request",
	http.StatusTooManyRequests:     "the server has received too many requests and has asked us to try again later",
	http.StatusServiceUnavailable:  "the server is currently unable to handle the request",
	http.StatusGatewayTimeout: "the server was unable to return a response in the time allotted, " +
		"but may still be processing the request",
}
