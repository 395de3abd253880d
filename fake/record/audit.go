package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// auditEvent is an event of an audit log (audit.k8s.io/v1), as far as it is read.
type auditEvent struct {
	APIVersion, Stage, Verb, RequestURI, UserAgent string
	User                                           struct{ Username string }
	ResponseStatus                                 struct{ Code int }
	RequestObject, ResponseObject                  json.RawMessage
	RequestReceivedTimestamp, StageTimestamp       time.Time
}

const auditVersion = "audit.k8s.io/v1"

// methods are the methods of the verbs that an audit log can contain.
var methods = map[string]string{"get": http.MethodGet, "list": http.MethodGet, "create": http.MethodPost, "update": http.MethodPut,
	"patch": http.MethodPatch, "delete": http.MethodDelete, "deletecollection": http.MethodDelete}

// ErrAudit is the error of Read for an audit log.
var ErrAudit = errors.New("it is an audit log of Kubernetes, which contains no watch events, so that it cannot be replayed")

// isAudit reports whether a line is an event of an audit log.
func isAudit(line []byte) bool {
	var e auditEvent
	return json.Unmarshal(line, &e) == nil && e.APIVersion == auditVersion
}

// ReadAudit reads an audit log (JSON lines of audit.k8s.io/v1) as a recording without watches. Its program is the client whose
// User-Agent or user name begins with client. If client is "", each client is the program. Secret values are replaced.
// The bodies of requests and answers are in events of level RequestResponse only.
func ReadAudit(from io.Reader, client string) (all []Entry, err error) {
	redact := newRedactor()
	lines := bufio.NewReader(from)
	var clients []string
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return nil, err
		}
		var e auditEvent
		if len(bytes.TrimSpace(line)) > 0 {
			if err := json.Unmarshal(line, &e); err != nil && !last {
				return nil, fmt.Errorf("line %d: it is not an event of an audit log: %w", n, err)
			}
		}
		if request, answer, ok := e.entries(n, client, redact); ok {
			all = append(all, request, answer)
			if name := clientOf(e.UserAgent) + " (" + e.User.Username + ")"; !slices.Contains(clients, name) {
				clients = append(clients, name)
			}
		}
		if last {
			break
		}
	}
	switch {
	case len(all) == 0:
		return nil, errors.New("it has no requests with their answers: the audit policy must log them at level RequestResponse")
	case !slices.ContainsFunc(all, func(e Entry) bool { return e.Request != nil && !e.Request.Other }):
		return nil, fmt.Errorf("it has no requests of a client %q: its clients are %s", client, strings.Join(clients, ", "))
	}
	slices.SortStableFunc(all, func(a, b Entry) int { return a.At.Compare(b.At) })
	return all, nil
}

// entries returns the request and the answer of an event. ok is false if the event does not contain both.
func (e *auditEvent) entries(id int, client string, redact *redactor) (request, answer Entry, ok bool) {
	u, err := url.ParseRequestURI(e.RequestURI)
	method := methods[e.Verb]
	if err != nil || method == "" || e.APIVersion != auditVersion || e.Stage != "ResponseComplete" || len(e.ResponseObject) == 0 ||
		u.Query().Has("dryRun") || e.User.Username == "system:apiserver" { // every server creates the same
		return request, answer, false
	}
	at := targetOf(u)
	q := &Request{Method: method, URL: e.RequestURI, Header: map[string]string{"User-Agent": e.UserAgent},
		Body: redact.body(e.RequestObject, "application/json", at), Other: !strings.HasPrefix(e.UserAgent, client) && !strings.HasPrefix(e.User.Username, client)}
	if method == http.MethodPatch {
		q.Header["Content-Type"] = patchType(q.Body.JSON, e.ResponseObject)
	}
	return Entry{At: e.RequestReceivedTimestamp, ID: id, Request: q}, Entry{At: e.StageTimestamp, ID: id, Answer: &Answer{Code: e.ResponseStatus.Code,
		Body: redact.body(e.ResponseObject, "application/json", at)}}, true
}

// patchType returns the type of a patch, which an audit log does not contain: a list is a JSON patch, a whole object an apply. Other
// patches of built-in kinds are strategic merge patches, like those of kubectl and of Kubernetes' own components.
func patchType(patch, answer []byte) string {
	v, _ := object.ParseValue(patch) // a body that is missing has no type
	obj := object.As(v)
	kind, _ := object.Parse(answer) // an answer that is not an object has no kind
	builtIn, err := schema.Load(schema.Default)
	switch {
	case obj == nil:
		return "application/json-patch+json"
	case obj.Kind() != "" && obj.APIVersion() != "" && obj.Name() != "":
		return "application/apply-patch+yaml"
	case err == nil && builtIn.Kind(schema.ParseGVK(kind.APIVersion(), kind.Kind())) != nil:
		return "application/strategic-merge-patch+json"
	}
	return mergePatch
}
