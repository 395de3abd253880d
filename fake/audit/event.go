package audit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	kubejson "github.com/kubesim/kubesim/sim/json"
	"github.com/kubesim/kubesim/sim/resource"
)

// Event is one event of the log (audit.k8s.io/v1).
type Event struct {
	Kind                     string                  `json:"kind"`
	APIVersion               string                  `json:"apiVersion"`
	Level                    Level                   `json:"level"`
	AuditID                  string                  `json:"auditID"`
	Stage                    apiserver.Stage         `json:"stage"`
	RequestURI               string                  `json:"requestURI"`
	Verb                     string                  `json:"verb"`
	User                     UserInfo                `json:"user"`
	ImpersonatedUser         *UserInfo               `json:"impersonatedUser,omitempty"`
	AuthenticationMetadata   *AuthenticationMetadata `json:"authenticationMetadata,omitempty"`
	SourceIPs                []string                `json:"sourceIPs,omitempty"`
	UserAgent                string                  `json:"userAgent,omitempty"`
	ObjectRef                *ObjectReference        `json:"objectRef,omitempty"`
	ResponseStatus           json.RawMessage         `json:"responseStatus,omitempty"`
	RequestObject            json.RawMessage         `json:"requestObject,omitempty"`
	ResponseObject           json.RawMessage         `json:"responseObject,omitempty"`
	RequestReceivedTimestamp microTime               `json:"requestReceivedTimestamp"`
	StageTimestamp           microTime               `json:"stageTimestamp"`
	Annotations              map[string]string       `json:"annotations,omitempty"`

	code int
}

// UserInfo is a user in an Event.
type UserInfo struct {
	Username string              `json:"username,omitempty"`
	UID      string              `json:"uid,omitempty"`
	Groups   []string            `json:"groups,omitempty"`
	Extra    map[string][]string `json:"extra,omitempty"`
}

func userInfo(u resource.User) UserInfo { return UserInfo{u.Name, u.UID, u.Groups, u.Extra} }

// AuthenticationMetadata contains the verb that allowed a constrained impersonation.
type AuthenticationMetadata struct {
	ImpersonationConstraint string `json:"impersonationConstraint,omitempty"`
}

// ObjectReference is the object that a request is about.
type ObjectReference struct {
	Resource        string `json:"resource,omitempty"`
	Namespace       string `json:"namespace,omitempty"`
	Name            string `json:"name,omitempty"`
	UID             string `json:"uid,omitempty"`
	APIGroup        string `json:"apiGroup,omitempty"`
	APIVersion      string `json:"apiVersion,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	Subresource     string `json:"subresource,omitempty"`
}

// microTime is a time that is printed with microseconds.
type microTime struct{ time.Time }

func (t microTime) MarshalJSON() ([]byte, error) {
	return []byte(t.UTC().Format(`"2006-01-02T15:04:05.000000Z07:00"`)), nil
}

// agentMax is the length to which a User-Agent is truncated.
const agentMax = 1024

// newEvent returns the event of a request with the data that are known when it arrives.
func newEvent(e *apiserver.Exchange, at *auth.Attributes, d *decision) *Event {
	v := &Event{Kind: "Event", APIVersion: group + "/v1", Level: d.level, RequestURI: cmp.Or(e.Target, e.Path), Verb: at.Verb, User: userInfo(at.User),
		SourceIPs: sourceIPs(e), UserAgent: e.UserAgent, RequestReceivedTimestamp: microTime{e.Now()}}
	if len(v.UserAgent) > agentMax {
		v.UserAgent = v.UserAgent[:agentMax] + "...TRUNCATED"
	}
	if at.IsResource {
		v.ObjectRef = &ObjectReference{Namespace: at.Namespace, Name: at.Name, Resource: at.Resource, Subresource: at.Subresource,
			APIGroup: at.Group, APIVersion: at.Version}
	}
	return v
}

// fill adds the data that the Server has recorded so far.
func (v *Event) fill(a *apiserver.Audit, d *decision) {
	v.AuditID, v.code = a.ID, a.Code
	if u := a.Impersonated; u != nil {
		info := userInfo(*u)
		v.ImpersonatedUser = &info
		if a.Constraint != "" {
			v.AuthenticationMetadata = &AuthenticationMetadata{a.Constraint}
		}
	}
	if ref, meta := v.ObjectRef, a.Metadata; ref != nil && meta != nil {
		ref.Namespace = cmp.Or(ref.Namespace, meta.String("namespace"))
		ref.Name = cmp.Or(ref.Name, meta.String("name"))
		ref.UID = cmp.Or(ref.UID, meta.String("uid"))
		ref.ResourceVersion = cmp.Or(ref.ResourceVersion, meta.String("resourceVersion"))
	}
	v.Annotations = a.Annotations
	if v.Level == Metadata {
		v.Annotations = withoutPatches(v.Annotations)
	} else if v.RequestObject = a.Request; d.omitManagedFields && a.Metadata != nil {
		v.RequestObject = withoutManagedFields(a.Request)
	}
	if v.ResponseObject = a.Response; d.omitManagedFields && a.Response != nil {
		v.ResponseObject = withoutManagedFields(a.Response)
	}
	switch {
	case a.Code == 0:
	case a.Status == nil:
		v.ResponseStatus = fmt.Appendf(nil, `{"metadata":{},"code":%d}`, a.Code)
	default:
		s := *a.Status
		s.Code = a.Code
		v.ResponseStatus = bytes.Replace(s.JSON(), []byte(`"kind":"Status","apiVersion":"v1",`), nil, 1)
	}
}

// withoutPatches returns the annotations without the patches of webhooks, which events below level Request do not have.
// It returns nil if none remain.
func withoutPatches(all map[string]string) map[string]string {
	var kept map[string]string
	for key, value := range all { // order does not matter
		if strings.HasPrefix(key, "patch.webhook.admission.k8s.io/") {
			continue
		}
		if kept == nil {
			kept = map[string]string{}
		}
		kept[key] = value
	}
	return kept
}

// withoutManagedFields removes the managedFields of an object, of the items of a list, and of the objects of a Table.
func withoutManagedFields(text []byte) []byte {
	return edited(text, func(key string, value []byte) []byte {
		switch key {
		case "metadata":
			return edited(value, func(key string, value []byte) []byte {
				if key == "managedFields" {
					return nil
				}
				return value
			})
		case "items":
			return edited(value, func(_ string, item []byte) []byte { return withoutManagedFields(item) })
		case "rows":
			return edited(value, func(_ string, row []byte) []byte {
				return edited(row, func(key string, value []byte) []byte {
					if key == "object" {
						return withoutManagedFields(value)
					}
					return value
				})
			})
		}
		return value
	})
}

// edited returns an object or a list in which each value is replaced by the result of edit. key is "" for an item of a
// list. A member or item for which edit returns nil is removed. Any other JSON is returned unchanged.
func edited(text []byte, edit func(key string, value []byte) []byte) []byte {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return text
	}
	out := []byte{text[0]}
	for m := range kubejson.Members(text) {
		name := ""
		if m.Key != nil {
			name = m.Name()
		}
		value := edit(name, m.Value)
		if value == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		if m.Key != nil {
			out = append(append(out, m.Key...), ':')
		}
		out = append(out, value...)
	}
	return append(out, text[len(text)-1])
}

// sourceIPs returns the addresses of a request's sender and of the proxies on its way.
func sourceIPs(e *apiserver.Exchange) (all []string) {
	add := func(text string) {
		if ip := net.ParseIP(strings.TrimSpace(text)); ip != nil {
			all = append(all, ip.String())
		}
	}
	for part := range strings.SplitSeq(e.Header.Get("X-Forwarded-For"), ",") {
		add(part)
	}
	if real := net.ParseIP(e.Header.Get("X-Real-Ip")); real != nil && !slices.Contains(all, real.String()) {
		all = append(all, real.String())
	}
	host, _, err := net.SplitHostPort(e.From)
	if err != nil {
		host = e.From
	}
	if ip := net.ParseIP(host); ip != nil && (len(all) == 0 || all[len(all)-1] != ip.String()) {
		all = append(all, ip.String())
	}
	return all
}

// legacy returns the event as a line of the format legacy.
func (v *Event) legacy() string {
	user, groups := cmp.Or(v.User.Username, "<none>"), "<none>"
	if v.User.Username != "" && len(v.User.Groups) > 0 {
		groups = quoted(v.User.Groups)
	}
	as, asGroups := "<self>", "<lookup>"
	if u := v.ImpersonatedUser; u != nil {
		as = u.Username
		if u.Groups != nil {
			asGroups = quoted(u.Groups)
		}
	}
	namespace, response, ip := "<none>", "<deferred>", "<unknown>"
	if v.ObjectRef != nil {
		namespace = cmp.Or(v.ObjectRef.Namespace, namespace)
	}
	if v.code != 0 {
		response = strconv.Itoa(v.code)
	}
	if len(v.SourceIPs) > 0 {
		ip = v.SourceIPs[0]
	}
	return fmt.Sprintf("%s AUDIT: id=%q stage=%q ip=%q method=%q user=%q groups=%q as=%q asgroups=%q user-agent=%q namespace=%q uri=%q response=\"%s\"",
		v.RequestReceivedTimestamp.Format(time.RFC3339Nano), v.AuditID, v.Stage, ip, v.Verb, user, groups, as, asGroups, v.UserAgent, namespace,
		v.RequestURI, response)
}

func quoted(values []string) string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = strconv.Quote(v)
	}
	return strings.Join(all, ",")
}
