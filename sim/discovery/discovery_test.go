package discovery

import (
	"net/url"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/wire"
)

// builtins returns a Table with the resources of a default 1.36 server.
func builtins(tb testing.TB) (*resource.Table, *schema.Set) {
	tb.Helper()
	set, err := schema.Load(schema.Default)
	if err != nil {
		tb.Fatal(err)
	}
	table := resource.NewTable(nil)
	for _, r := range set.Resources() {
		def := &resource.Definition{
			GVK: r.GVK, Resource: r.Resource, Singular: r.Singular, ShortNames: r.ShortNames, Categories: r.Categories,
			Namespaced: r.Namespaced, Verbs: r.Verbs, Type: func() *schema.Type { return set.Kind(r.GVK) }, Strategy: &resource.Strategy{},
		}
		def.Hub = def
		for _, sub := range r.Subresources {
			def.Subresources = append(def.Subresources, resource.Subresource{Name: sub.Name, GVK: sub.GVK, Verbs: sub.Verbs})
		}
		table.Add(def)
	}
	return table, set
}

func documents(tb testing.TB) *Documents {
	tb.Helper()
	table, set := builtins(tb)
	return New(Options{Table: table, Schema: set, Version: Release("v1.36.3"), Statusz: true, Flagz: true})
}

// custom returns the definition of a namespaced custom resource with status and scale.
func custom(group, version, plural, kind string) *resource.Definition {
	gvk := schema.GVK{Group: group, Version: version, Kind: kind}
	t := schema.NewStruct("", "", []schema.Field{
		{Name: "spec", Type: schema.NewStruct("", "", []schema.Field{{Name: "size", Type: &schema.Type{Kind: schema.Int, Bits: 64}, Format: "int64", Required: true}})},
	})
	d := &resource.Definition{
		GVK: gvk, Resource: plural, Singular: plural[:len(plural)-1], Namespaced: true, Custom: true,
		Verbs: []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"},
		Type:  func() *schema.Type { return t },
		Subresources: []resource.Subresource{
			{Name: "scale", GVK: schema.GVK{Group: "autoscaling", Version: "v1", Kind: "Scale"}, Verbs: []string{"get", "patch", "update"}},
			{Name: "status", GVK: gvk, Verbs: []string{"get", "patch", "update"}},
		},
		Strategy: &resource.Strategy{},
	}
	d.Hub = d
	return d
}

// get requests a path, which may contain a query. headers are name and value pairs.
func get(tb testing.TB, d *Documents, target string, headers ...string) *Answer {
	tb.Helper()
	u, err := url.Parse(target)
	if err != nil {
		tb.Fatal(err)
	}
	r := Request{Method: wire.MethodGet, Path: u.Path, Query: u.Query(), Header: wire.Header{}}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	a, ok := d.Serve(r)
	if !ok {
		tb.Fatalf("%s is not discovery's", target)
	}
	return a
}

func body(tb testing.TB, a *Answer) object.Object {
	tb.Helper()
	text := a.Body
	if a.Status != nil {
		text = a.Status.JSON()
	}
	o, err := object.Parse(text)
	if err != nil {
		tb.Fatalf("%v in %.200s", err, a.Body)
	}
	return o
}

const aggregatedType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// Every served resource is in the legacy lists, in the aggregated document and in OpenAPI.
func TestEveryResourceAppears(t *testing.T) {
	is := is.New(t)
	d := documents(t)
	set := d.o.Schema
	aggregated := map[string]bool{}
	for _, path := range []string{"/api", "/apis"} {
		for _, g := range body(t, get(t, d, path, "Accept", aggregatedType)).List("items") {
			group := object.Object(g.(map[string]any))
			for _, v := range group.List("versions") {
				version := object.Object(v.(map[string]any))
				for _, r := range version.List("resources") {
					aggregated[group.Name()+"/"+version.String("version")+"/"+object.Object(r.(map[string]any)).String("resource")] = true
				}
			}
		}
	}
	is.Equal(len(aggregated), len(set.Resources())) // all, and nothing else
	for _, r := range set.Resources() {
		path := "apis/" + r.GV()
		if r.Group == "" {
			path = "api/" + r.GV()
		}
		is.True(aggregated[r.Group+"/"+r.Version+"/"+r.Resource]) // in the aggregated document
		names := map[string]bool{}
		for _, row := range body(t, get(t, d, "/"+path)).List("resources") {
			names[object.Object(row.(map[string]any)).String("name")] = true
		}
		is.True(names[r.Resource]) // in its group version
		for _, sub := range r.Subresources {
			is.True(names[r.Resource+"/"+sub.Name]) // its subresources, too
		}
		paths := body(t, get(t, d, "/openapi/v3/"+path)).Map("paths")
		collection := "/" + path + "/" + r.Resource
		if r.Namespaced {
			collection = "/" + path + "/namespaces/{namespace}/" + r.Resource
		}
		is.True(paths[collection] != nil) // in OpenAPI
	}
}

func TestKeyOrder(t *testing.T) {
	is := is.New(t)
	d := documents(t)
	is.Equal(string(get(t, d, "/apis/policy").Body), `{"kind":"APIGroup","apiVersion":"v1","name":"policy",`+
		`"versions":[{"groupVersion":"policy/v1","version":"v1"}],"preferredVersion":{"groupVersion":"policy/v1","version":"v1"}}`+"\n") // struct order
	is.Equal(string(get(t, d, "/apis/policy/v1").Body), `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"policy/v1","resources":[`+
		`{"name":"poddisruptionbudgets","singularName":"poddisruptionbudget","namespaced":true,"kind":"PodDisruptionBudget",`+
		`"verbs":["create","delete","deletecollection","get","list","patch","update","watch"],"shortNames":["pdb"],"storageVersionHash":"EVWiDmWqyJw="},`+
		`{"name":"poddisruptionbudgets/status","singularName":"","namespaced":true,"kind":"PodDisruptionBudget","verbs":["get","patch","update"]}]}`+"\n") // struct order
	is.Equal(string(get(t, d, "/api").Body), `{"kind":"APIVersions","versions":["v1"],`+
		`"serverAddressByClientCIDRs":[{"clientCIDR":"0.0.0.0/0","serverAddress":"127.0.0.1:6443"}]}`+"\n") // no apiVersion
	is.True(strings.HasPrefix(string(get(t, d, "/version?pretty=0").Body), "{\n  \"major\": \"1\",\n  \"minor\": \"36\",\n")) // always indented
}

func TestStorageVersionHashes(t *testing.T) {
	is := is.New(t)
	d := documents(t)
	hash := func(group, version, resource string) string {
		return d.storageVersionHash(d.o.Table.Find(group, version, resource))
	}
	is.Equal(hash("", "v1", "pods"), "xPOwRZ+Yhw8=")                                             // the core group is empty
	is.Equal(hash("autoscaling", "v1", "horizontalpodautoscalers"), "qwQve8ut294=")              // stored as v2
	is.Equal(hash("events.k8s.io", "v1", "events"), hash("", "v1", "events"))                    // one resource
	is.Equal(hash("apiextensions.k8s.io", "v1", "customresourcedefinitions"), "jfWCUB31mvA=")    // stored as v1beta1
	is.Equal(hash("", "v1", "componentstatuses"), "")                                            // not stored
	is.Equal(d.storageVersionHash(custom("example.com", "v1", "widgets", "Widget")) != "", true) // stored
}

func TestCustomResources(t *testing.T) {
	is := is.New(t)
	d := documents(t)
	is.Equal(string(get(t, d, "/apis/example.com").Body), "404 page not found\n") // not there yet
	before := d.spec.part("apis/apps/v1")
	v1, v2 := custom("example.com", "v1", "widgets", "Widget"), custom("example.com", "v2beta1", "widgets", "Widget")
	d.o.Table.Add(v2)
	d.o.Table.Add(v1)
	d.o.Table.Add(custom("a.example.com", "v1", "gadgets", "Gadget"))
	d.Changed()

	is.Equal(string(get(t, d, "/apis/example.com").Body), `{"kind":"APIGroup","apiVersion":"v1","name":"example.com","versions":[`+
		`{"groupVersion":"example.com/v1","version":"v1"},{"groupVersion":"example.com/v2beta1","version":"v2beta1"}],`+
		`"preferredVersion":{"groupVersion":"example.com/v1","version":"v1"}}`+"\n") // stable before beta
	groups := body(t, get(t, d, "/apis")).List("groups")
	last := object.Object(groups[len(groups)-1].(map[string]any))
	is.Equal(last.String("name"), "example.com") // after the built-in ones, by name
	rows := body(t, get(t, d, "/apis/example.com/v1")).List("resources")
	is.Equal(object.Object(rows[1].(map[string]any)).String("name"), "widgets/status") // status first
	is.Equal(object.Object(rows[2].(map[string]any)).String("group"), "autoscaling")   // scale is of another group
	is.Equal(string(get(t, d, "/apis/example.com/v3").Body), "404 page not found\n")   // plain text for custom resources
	is.Equal(get(t, d, "/apis/apps/v3").Status.Code, wire.StatusNotFound)              // a Status for built-in ones
	is.Equal(get(t, d, "/openapi/v3/apis/example.com").Code, wire.StatusNotFound)      // groups of custom resources have no document
	is.True(d.spec.part("apis/apps/v1") == before || before == nil)                    // unchanged documents are kept

	doc := body(t, get(t, d, "/openapi/v3/apis/example.com/v1"))
	size, _ := doc.Get("components", "schemas", "com.example.v1.Widget", "properties", "spec", "properties", "size", "format")
	is.Equal(size, "int64") // the schema is published
	op, _ := doc.Get("paths", "/apis/example.com/v1/namespaces/{namespace}/widgets/{name}", "patch", "operationId")
	is.Equal(op, "patchExampleComV1NamespacedWidget") // with its operations
	_, ok := doc.Get("paths", "/apis/example.com/v1/watch/widgets")
	is.True(!ok) // custom resources have no watch paths

	d.o.Table.Remove(v1)
	d.Changed()
	is.Equal(string(get(t, d, "/apis/example.com/v1").Body), "404 page not found\n") // gone
}

func TestCompareVersions(t *testing.T) {
	is := is.New(t)
	order := []string{"v9", "v10", "v2", "v1beta1", "foo"}
	for i := 1; i < len(order); i++ {
		is.True(compareVersions(order[i-1], order[i], []string{"v9"}) < 0) // known ones first, then by stability and number
		is.True(compareVersions(order[i], order[i-1], []string{"v9"}) > 0) // the other way round
	}
}

func TestPathsThatAreNotDiscovery(t *testing.T) {
	d := documents(t)
	for _, path := range []string{
		"", "/frogs", "//api", "//apis/apps", "/API", "/api/v1/pods", "/apis/apps/v1/deployments", "/healthz/", "/healthzy", "/livez/frogs",
		"/openapi", "/openapi/v1", "/openapi/v22", "/metrics/", "/versions", "/api/v1/watch",
	} {
		if a, ok := d.Serve(Request{Method: "GET", Path: path}); ok {
			t.Errorf("%q: %+v", path, a)
		}
	}
}

func TestRootPaths(t *testing.T) {
	is := is.New(t)
	paths := object.Strings(body(t, get(t, documents(t), "/")).List("paths"))
	is.Equal(paths[:4], []string{"/.well-known/openid-configuration", "/api", "/api/v1", "/apis"}) // sorted
	is.Equal(paths[len(paths)-1], "/version")
	d := documents(t)
	for _, path := range paths {
		if path != "/openapi/v3/" {
			is.True(get(t, d, path).Code == wire.StatusOK) // every one is served
		}
	}
}
