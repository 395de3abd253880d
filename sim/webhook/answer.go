package webhook

import (
	"errors"
	"fmt"
	"mime"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// body returns the body of the answer, or the error of an unsuccessful one.
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

// textMax is how much of a text is read for an error.
const textMax = 2048

// refusal returns the error of an answer with an error's code: the message of its Status, or what the code means
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

// meanings are client-go's error texts for status codes, which do not depend on the body of the answer.
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
