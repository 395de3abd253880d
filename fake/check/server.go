package check

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/dump"
	"github.com/kubesim/kubesim/fake/kubectl"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/wire"
)

// Verdict is a server's response to a request, in most cases to the creation of an object.
type Verdict struct {
	Code     int      `json:"code"`
	Reason   string   `json:"reason,omitempty"`
	Message  string   `json:"message,omitempty"`
	Warnings []string `json:"warnings,omitempty"`

	causes []cause
	stored object.Object // nil if refused
}

// cause is a cause in the details of a Status.
type cause struct{ field, message string }

func (v *Verdict) refused() bool { return v.Code >= http.StatusBadRequest }

// server is the API server on which a check creates objects.
type server struct {
	admin, user *client.Client
	namespace   string          // of objects without one
	strict      bool            // namespaces are not created implicitly
	namespaces  map[string]bool // that exist
	refused     []dump.Problem  // that cannot be imported
	pause       time.Duration   // the wait until objects of a rank affect those of the next ranks; a real server needs some seconds
}

// fieldManager is the field manager of the created objects.
const fieldManager = "kubesim-check"

// simulated starts a simulated server of each minor version, over a common store with the imported objects. It returns the first of
// them. Webhooks are not called.
func (o *Options) simulated(minors ...string) (*server, *fake.Server, error) {
	c := fake.Options{Auth: auth.RBAC, WithoutPlugins: []string{"MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"}}
	for _, minor := range minors {
		c.Replicas = append(c.Replicas, fake.ReplicaOptions{Version: minor})
	}
	srv, err := fake.New(c)
	if err != nil {
		return nil, nil, err
	}
	s := o.connectTo(srv, 1)
	if o.imported != nil {
		if err = s.load(srv, o.imported); err != nil {
			srv.Close()
			return nil, nil, err
		}
	}
	return s, srv, nil
}

// load imports a dump, and sets the conversion strategy of its definitions to None, because webhooks cannot be called.
func (s *server) load(srv *fake.Server, d *dump.Dump) error {
	done, err := srv.ImportDump(d)
	if err != nil {
		return err
	}
	s.refused = done.Refused
	_, list, err := client.List(s.admin, "customresourcedefinitions", "")
	for _, crd := range list {
		if err == nil && crd.String("spec", "conversion", "strategy") == "Webhook" {
			err = s.withoutWebhook(crd.Name())
		}
	}
	return err
}

// connectTo returns the n-th of the simulated servers, counted from 1.
func (o *Options) connectTo(srv *fake.Server, n int) *server {
	return o.connect(srv.URL(), srv.As("admin", "system:masters").Over(srv.Replica(n).Transport()), "")
}

// connect returns the server at a URL. The transport or the token must identify a cluster administrator.
func (o *Options) connect(url string, transport http.RoundTripper, token string) *server {
	admin := &client.Client{Conn: kubectl.Dial(context.Background(), url, transport, token), Discovery: &client.Discovery{}}
	user := *admin
	user.User, user.Groups = o.User, o.Groups
	return &server{admin: admin, user: &user, namespace: o.Namespace, strict: o.Strict, namespaces: map[string]bool{}}
}

// create creates an object, or applies it by server-side apply if it already exists. created is the name of the namespace that was
// created for the object, or "" if none was.
func (s *server) create(o *Object) (v *Verdict, created string, err error) {
	at, created, err := s.place(o.Object)
	if err != nil {
		return nil, "", err
	}
	if at.unserved != nil {
		return at.unserved, "", nil
	}
	as := s.user
	if o.rank < accounts {
		as = s.admin
	}
	q := client.Query("fieldManager", fieldManager, "fieldValidation", "Strict")
	r := as.Request(wire.MethodPost, at.collection, q, o.mediaType(), o.body)
	if o.Name() != "" {
		stored, err := s.ask(s.admin.Request(wire.MethodGet, at.path, nil, "", nil))
		if err != nil {
			return nil, "", err
		}
		if !stored.refused() {
			q.Set("force", "true")
			r = as.Request(wire.MethodPatch, at.path, q, "application/apply-patch+yaml", o.body)
		}
	}
	v, err = s.ask(r)
	return v, created, err
}

// place contains the paths of an object on the server.
type place struct {
	collection, path string
	unserved         *Verdict // the response if the server does not serve the kind; otherwise nil
}

// place returns the paths of an object. If the object needs a namespace that does not exist, place creates it (ensure), and created
// is its name.
func (s *server) place(obj object.Object) (at place, created string, err error) {
	m, err := s.admin.MappingFor(obj)
	if err != nil {
		at.unserved = &Verdict{Code: http.StatusNotFound, Reason: "NotFound", Message: err.Error() + s.elsewhere(obj)}
		return at, "", nil
	}
	namespace := ""
	if m.Namespaced {
		namespace = cmp.Or(obj.Namespace(), s.namespace)
		created, err = s.ensure(namespace)
	}
	return place{collection: m.Path(namespace, ""), path: m.Path(namespace, obj.Name())}, created, err
}

// elsewhere returns the end of an error message: the versions in which the server serves the kind of an object, or "" if it serves
// none.
func (s *server) elsewhere(obj object.Object) string {
	var versions []string
	gvk := schema.ParseGVK(obj.APIVersion(), obj.Kind())
	for _, m := range s.admin.Discovery.All {
		if m.Group == gvk.Group && m.Kind == gvk.Kind && !slices.Contains(versions, m.GroupVersion()) {
			versions = append(versions, m.GroupVersion())
		}
	}
	if len(versions) == 0 {
		return ""
	}
	return "; the server has it in " + strings.Join(versions, ", ")
}

// ask sends a request and returns the server's response.
func (s *server) ask(r *client.Request) (*Verdict, error) {
	a, err := s.admin.Conn.Do(r)
	if err != nil {
		return nil, err
	}
	v := &Verdict{Code: a.Code}
	for _, text := range a.Header["Warning"] {
		v.Warnings = append(v.Warnings, client.WarningText(text))
	}
	obj, err := object.Parse(a.Body)
	switch {
	case err != nil:
		v.Message = string(a.Body)
	case !v.refused():
		v.stored = obj
	default:
		v.Reason, v.Message = obj.String("reason"), obj.String("message")
		for _, c := range obj.Objects("details", "causes") {
			v.causes = append(v.causes, cause{c.String("field"), c.String("message")})
		}
	}
	return v, nil
}

// ensure creates a namespace that does not exist, unless the check is strict. created is its name, or "" if it was not created.
func (s *server) ensure(namespace string) (created string, err error) {
	if s.strict || s.namespaces[namespace] {
		return "", nil
	}
	s.namespaces[namespace] = true
	body := object.JSON(map[string]any{"metadata": map[string]any{"name": namespace}})
	v, err := s.ask(s.admin.Request(wire.MethodPost, "/api/v1/namespaces", nil, "application/json", body))
	if err != nil || v.refused() { // it exists, or the response to the object contains the reason
		return "", err
	}
	return namespace, nil
}

// remove deletes an object that create has stored. It does nothing if obj is nil.
func (s *server) remove(obj object.Object) error {
	if obj == nil {
		return nil
	}
	m, err := s.admin.MappingFor(obj)
	if err == nil {
		_, err = s.ask(s.admin.Request(wire.MethodDelete, m.Path(obj.Namespace(), obj.Name()), nil, "", nil))
	}
	return err
}

func (o *Object) mediaType() string {
	if o.doc != nil && o.item < 0 {
		return "application/yaml"
	}
	return "application/json"
}
