package outbound

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/discovery"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

const (
	// checkTimeout is the time limit for checking an aggregated API server, and documentTimeout that for fetching its OpenAPI
	// documents.
	checkTimeout    = 5 * time.Second
	documentTimeout = time.Minute
	// documentMax is the maximum size of a document.
	documentMax = 64 << 20
)

// The users of the server's own requests to an aggregated API server.
var (
	discoverer = resource.User{Name: "system:kube-aggregator", Groups: []string{"system:masters"}}
	downgraded = resource.User{Name: "system:kube-aggregator"}
	downloader = resource.User{Name: "system:aggregator"}
)

// OpenAPI implements sim.Aggregator.
func (a *Aggregator) OpenAPI(x *sim.APIService, w sim.Within) discovery.RemoteOpenAPI {
	return discovery.RemoteOpenAPI{V2: a.document(x, "/openapi/v2", w), V3: object.Object(a.document(x, "/openapi/v3", w)).Map("paths")}
}

// rootOf returns the path that an available API server must serve.
func rootOf(x *sim.APIService) string {
	if x.Group == "" {
		return "/api/" + x.Version
	}
	return "/apis/" + x.Group + "/" + x.Version
}

// Check implements sim.Aggregator (remote.AvailableConditionController).
func (a *Aggregator) Check(x *sim.APIService, w sim.Within) error {
	host, transport, err := a.upstream(x, false)
	if err != nil {
		return err
	}
	at := location(host, rootOf(x), nil)
	ctx, stop := a.limit(checkTimeout, w)
	defer stop()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return err
	}
	setUser(q.Header, discoverer)
	res, err := transport.RoundTrip(q)
	switch {
	case err != nil && ctx.Err() != nil:
		err = fmt.Errorf("Get %q: %w (Client.Timeout exceeded while awaiting headers)", at, context.Cause(ctx))
	case err != nil:
		err = fmt.Errorf("Get %q: %w", at, err)
	default:
		res.Body.Close()
		if res.StatusCode < 200 || res.StatusCode > 299 {
			err = fmt.Errorf("bad status from %v: %d", at, res.StatusCode)
		}
	}
	if err != nil {
		return fmt.Errorf("failing or missing response from %v: %w", at, err)
	}
	return nil
}

// limit returns a context that is done after d on the server's clock, or when the server ends.
func (a *Aggregator) limit(d time.Duration, w sim.Within) (context.Context, func()) {
	ctx, stop := w(d)
	forget := context.AfterFunc(a.life, stop)
	return ctx, func() {
		forget()
		stop()
	}
}

// get requests a document from an aggregated API server, as a user and within a time limit. It reads at most documentMax bytes.
func (a *Aggregator) get(x *sim.APIService, path, accept string, user resource.User, limit time.Duration, w sim.Within) (*http.Response, []byte, error) {
	host, transport, err := a.upstream(x, false)
	if err != nil {
		return nil, nil, err
	}
	ctx, stop := a.limit(limit, w)
	defer stop()
	at := location(host, path, nil)
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, nil, err
	}
	q.Header.Set("Accept", accept)
	q.Header["User-Agent"] = []string{""}
	q.Header.Set("X-Forwarded-Host", at.Host)
	q.Header.Set("X-Forwarded-Proto", at.Scheme)
	q.Header.Set("X-Forwarded-Uri", at.Path)
	setUser(q.Header, user)
	res, err := transport.RoundTrip(q)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, documentMax))
	return res, body, err
}

// document returns an OpenAPI document in JSON, or nil if it cannot be fetched.
func (a *Aggregator) document(x *sim.APIService, path string, w sim.Within) map[string]any {
	res, body, err := a.get(x, path, "application/json", downloader, documentTimeout, w)
	if err != nil || res.StatusCode != http.StatusOK {
		return nil
	}
	obj, err := object.Parse(body)
	if err != nil {
		return nil
	}
	return obj
}

// Resources implements sim.Aggregator. It uses aggregated discovery or, if that is not supported, the resource list of the version
// (kube-aggregator, discoveryManager.fetchFreshDiscoveryForService).
func (a *Aggregator) Resources(x *sim.APIService, w sim.Within) (rows []any, stale bool) {
	const list = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	res, body, err := a.get(x, "/apis", list+","+strings.Replace(list, "v=v2", "v=v2beta1", 1), discoverer, discoveryTimeout, w)
	switch {
	case err != nil || res.StatusCode == http.StatusServiceUnavailable:
		return nil, true
	case res.StatusCode == http.StatusOK && isDiscovery(res.Header.Get("Content-Type")):
		obj, err := object.Parse(body)
		if err != nil || obj.Kind() != "APIGroupDiscoveryList" || json.Unmarshal(body, &discoveryList{}) != nil {
			return nil, true
		}
		return versionIn(obj, x), false
	}
	res, body, err = a.get(x, rootOf(x), "application/json", downgraded, discoveryTimeout, w)
	if err != nil || res.StatusCode != http.StatusOK {
		return nil, true
	}
	obj, err := object.Parse(body)
	if err == nil {
		err = json.Unmarshal(body, &resourceList{})
	}
	if err == nil {
		rows, err = converted(obj)
	}
	return rows, err != nil
}

// discoveryList and resourceList contain the fields of discovery documents that are used. A document that cannot be decoded into
// them is treated as a missing response.
type (
	discoveryList struct {
		Items []struct {
			Metadata struct{ Name string }
			Versions []struct {
				Version   string
				Resources []struct {
					Resource, Scope, SingularResource string
					Verbs, ShortNames, Categories     []string
					ResponseKind                      *responseKind
					Subresources                      []struct {
						Subresource  string
						Verbs        []string
						ResponseKind *responseKind
					}
				}
			}
		}
	}
	resourceList struct {
		Resources []struct {
			Name, SingularName, Group, Version, Kind string
			Namespaced                               bool
			Verbs, ShortNames, Categories            []string
		}
	}
	responseKind struct{ Group, Version, Kind string }
)

// isDiscovery reports whether the Content-Type is that of aggregated discovery.
func isDiscovery(contentType string) bool {
	media, params, err := mime.ParseMediaType(contentType)
	return err == nil && media == "application/json" && params["g"] == "apidiscovery.k8s.io" && params["as"] == "APIGroupDiscoveryList" &&
		(params["v"] == "v2" || params["v"] == "v2beta1")
}

// versionIn returns the resources of a version in an APIGroupDiscoveryList. It sets missing kinds to empty ones.
func versionIn(list object.Object, x *sim.APIService) []any {
	for _, group := range list.Objects("items") {
		if group.String("metadata", "name") != x.Group {
			continue
		}
		for _, v := range group.Objects("versions") {
			if v.String("version") != x.Version {
				continue
			}
			for _, row := range v.Objects("resources") {
				row.SetDefault(noKind(), "responseKind")
				for _, sub := range row.Objects("subresources") {
					sub.SetDefault(noKind(), "responseKind")
				}
			}
			return v.List("resources")
		}
	}
	return nil
}

func noKind() map[string]any { return map[string]any{"group": "", "version": "", "kind": ""} }

// converted converts the resources of an APIResourceList to the form of aggregated discovery (k8s.io/apiserver,
// endpoints.ConvertGroupVersionIntoToDiscovery).
func converted(list object.Object) ([]any, error) {
	if list.Kind() != "APIResourceList" {
		return nil, fmt.Errorf("kind %q is not APIResourceList", list.Kind())
	}
	var rows []any
	at := map[string]object.Object{}
	row := func(name string, from object.Object) object.Object {
		made := object.Object{"resource": name, "scope": "Cluster", "verbs": []any{}}
		if namespaced, _ := from.Bool("namespaced"); namespaced {
			made["scope"] = "Namespaced"
		}
		at[name] = made
		rows = append(rows, map[string]any(made))
		return made
	}
	for _, r := range list.Objects("resources") {
		kind := map[string]any{"group": r.String("group"), "version": r.String("version"), "kind": r.String("kind")}
		name, sub, isSub := strings.Cut(r.String("name"), "/")
		parent := at[name]
		if !isSub {
			if parent != nil {
				return nil, errors.New("resource " + name + " is there twice")
			}
			parent = row(name, r)
			maps.Copy(parent, map[string]any{"responseKind": kind, "singularResource": r.String("singularName"), "verbs": r.List("verbs")})
			for _, field := range []string{"shortNames", "categories"} {
				if values := r.List(field); len(values) > 0 {
					parent[field] = values
				}
			}
			continue
		}
		if parent == nil {
			parent = row(name, r)
			parent["singularResource"], parent["responseKind"] = "", noKind()
		}
		parent["subresources"] = append(parent.List("subresources"), map[string]any{"subresource": sub, "responseKind": kind, "verbs": r.List("verbs")})
	}
	return rows, nil
}
