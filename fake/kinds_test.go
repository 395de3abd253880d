package fake_test

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

// minimal contains the smallest valid object of each kind, by resource and group. name is set if the kind restricts the
// names of its objects. after names the step that unblocks the deletion of the object, or is "" if nothing blocks it.
var minimal = map[string]struct{ name, body, after string }{
	"configmaps":             {},
	"endpoints":              {},
	"events":                 {body: `"involvedObject":{"namespace":"default"}`},
	"limitranges":            {body: `"spec":{"limits":[]}`},
	"namespaces":             {after: "finalize"},
	"nodes":                  {},
	"persistentvolumeclaims": {body: `"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}`},
	"persistentvolumes":      {body: `"spec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"},"hostPath":{"path":"/a"}}`},
	"pods":                   {body: `"spec":` + podSpec},
	"podtemplates":           {body: `"template":{"spec":` + podSpec + `}`},
	"replicationcontrollers": {body: `"spec":{"selector":{"a":"b"},"template":` + podTemplate + `}`},
	"resourcequotas":         {},
	"secrets":                {},
	"serviceaccounts":        {},
	"services":               {body: `"spec":{"ports":[{"port":80}]}`},

	"mutatingadmissionpolicies.admissionregistration.k8s.io": {body: `"spec":{"matchConstraints":` + policyRules +
		`,"reinvocationPolicy":"Never","mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{}"}}]}`},
	"mutatingadmissionpolicybindings.admissionregistration.k8s.io":   {body: `"spec":{"policyName":"p"}`},
	"mutatingwebhookconfigurations.admissionregistration.k8s.io":     {},
	"validatingadmissionpolicies.admissionregistration.k8s.io":       {body: `"spec":{"matchConstraints":` + policyRules + `,"validations":[{"expression":"true"}]}`},
	"validatingadmissionpolicybindings.admissionregistration.k8s.io": {body: `"spec":{"policyName":"p","validationActions":["Deny"]}`},
	"validatingwebhookconfigurations.admissionregistration.k8s.io":   {},
	"customresourcedefinitions.apiextensions.k8s.io": {name: "things.example.com", body: `"spec":{"group":"example.com","scope":"Namespaced",
		"names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}`},
	"apiservices.apiregistration.k8s.io": {name: "v7.example.com", body: `"spec":{"group":"example.com","version":"v7","groupPriorityMinimum":1,
		"versionPriority":1,"service":{"namespace":"default","name":"s"},"insecureSkipTLSVerify":true}`},
	"controllerrevisions.apps": {body: `"data":{},"revision":1`},
	"daemonsets.apps":          {body: `"spec":{"selector":{"matchLabels":{"a":"b"}},"template":` + podTemplate + `}`},
	"deployments.apps":         {body: `"spec":{"selector":{"matchLabels":{"a":"b"}},"template":` + podTemplate + `}`},
	"replicasets.apps":         {body: `"spec":{"selector":{"matchLabels":{"a":"b"}},"template":` + podTemplate + `}`},
	"statefulsets.apps":        {body: `"spec":{"serviceName":"s","selector":{"matchLabels":{"a":"b"}},"template":` + podTemplate + `}`},

	"selfsubjectreviews.authentication.k8s.io":       {},
	"tokenreviews.authentication.k8s.io":             {body: `"spec":{"token":"t"}`},
	"localsubjectaccessreviews.authorization.k8s.io": {body: `"spec":{"user":"u","resourceAttributes":{"namespace":"default","verb":"get","resource":"pods"}}`},
	"selfsubjectaccessreviews.authorization.k8s.io":  {body: `"spec":{"nonResourceAttributes":{"verb":"get","path":"/"}}`},
	"selfsubjectrulesreviews.authorization.k8s.io":   {body: `"spec":{"namespace":"default"}`},
	"subjectaccessreviews.authorization.k8s.io":      {body: `"spec":{"user":"u","nonResourceAttributes":{"verb":"get","path":"/"}}`},
	"bindings":                             {name: "p", body: `"target":{"kind":"Node","name":"n"}`},
	"horizontalpodautoscalers.autoscaling": {body: `"spec":{"maxReplicas":1,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}`},
	"cronjobs.batch":                       {body: `"spec":{"schedule":"* * * * *","jobTemplate":{"spec":{"template":{"spec":` + jobPodSpec + `}}}}`},
	"jobs.batch":                           {body: `"spec":{"template":{"spec":` + jobPodSpec + `}}`},
	"certificatesigningrequests.certificates.k8s.io":           {body: `"spec":{"signerName":"example.com/s","usages":["client auth"],"request":"` + certificateRequest() + `"}`},
	"leases.coordination.k8s.io":                               {},
	"endpointslices.discovery.k8s.io":                          {body: `"addressType":"IPv4","endpoints":[]`},
	"events.events.k8s.io":                                     {body: `"eventTime":"2026-01-01T00:00:00.000000Z","reportingController":"example.com/c","reportingInstance":"i","action":"a","reason":"r","type":"Normal","regarding":{"namespace":"default"}`},
	"flowschemas.flowcontrol.apiserver.k8s.io":                 {body: `"spec":{"priorityLevelConfiguration":{"name":"p"}}`},
	"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": {body: `"spec":{"type":"Limited","limited":{"limitResponse":{"type":"Reject"}}}`},
	"ingressclasses.networking.k8s.io":                         {body: `"spec":{"controller":"example.com/c"}`},
	"ingresses.networking.k8s.io":                              {body: `"spec":{"defaultBackend":{"service":{"name":"s","port":{"number":80}}}}`},
	"ipaddresses.networking.k8s.io":                            {name: "10.9.8.7", body: `"spec":{"parentRef":{"resource":"services","name":"s","namespace":"default"}}`},
	"networkpolicies.networking.k8s.io":                        {body: `"spec":{"podSelector":{}}`},
	"servicecidrs.networking.k8s.io":                           {body: `"spec":{"cidrs":["10.8.0.0/24"]}`},
	"runtimeclasses.node.k8s.io":                               {body: `"handler":"h"`},
	"poddisruptionbudgets.policy":                              {body: `"spec":{"minAvailable":1}`},
	"clusterrolebindings.rbac.authorization.k8s.io":            {body: `"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"r"}`},
	"clusterroles.rbac.authorization.k8s.io":                   {},
	"rolebindings.rbac.authorization.k8s.io":                   {body: `"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"}`},
	"roles.rbac.authorization.k8s.io":                          {},
	"deviceclasses.resource.k8s.io":                            {},
	"resourceclaims.resource.k8s.io":                           {},
	"resourceclaimtemplates.resource.k8s.io":                   {body: `"spec":{"spec":{}}`},
	"resourceslices.resource.k8s.io":                           {body: `"spec":{"driver":"d.example.com","nodeName":"n","pool":{"name":"p","generation":1,"resourceSliceCount":1}}`},
	"priorityclasses.scheduling.k8s.io":                        {body: `"value":1`},
	"csidrivers.storage.k8s.io":                                {},
	"csinodes.storage.k8s.io":                                  {body: `"spec":{"drivers":[]}`},
	"csistoragecapacities.storage.k8s.io":                      {body: `"storageClassName":"c"`},
	"storageclasses.storage.k8s.io":                            {body: `"provisioner":"example.com/p"`},
	"volumeattachments.storage.k8s.io":                         {body: `"spec":{"attacher":"example.com","nodeName":"n","source":{"persistentVolumeName":"p"}}`},
	"volumeattributesclasses.storage.k8s.io":                   {body: `"driverName":"example.com","parameters":{"a":"b"}`},
}

const (
	podSpec     = `{"containers":[{"name":"c","image":"i"}]}`
	jobPodSpec  = `{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}`
	podTemplate = `{"metadata":{"labels":{"a":"b"}},"spec":` + podSpec + `}`
	policyRules = `{"resourceRules":[{"apiGroups":["nobody.example.com"],"apiVersions":["v1"],"operations":["CREATE"],"resources":["x"]}]}`
)

// certificateRequest returns a PKCS#10 request in the form in which a CertificateSigningRequest contains it.
func certificateRequest() string {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	der, err := x509.CreateCertificateRequest(nil, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "c"}}, key)
	if err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
}

// served is one resource in discovery.
type served struct {
	group, version, resource, kind string
	namespaced                     bool
	verbs                          []any
}

// discover returns the resources in discovery.
func (c client) discover() []served {
	c.t.Helper()
	var all []served
	for _, path := range []string{"/api", "/apis"} {
		_, _, text := c.ask("GET", path, "", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", "")
		for _, g := range c.parse(text).List("items") {
			group := object.Object(g.(map[string]any))
			for _, v := range group.List("versions") {
				version := object.Object(v.(map[string]any))
				for _, x := range version.List("resources") {
					r := object.Object(x.(map[string]any))
					all = append(all, served{group.String("metadata", "name"), version.String("version"), r.String("resource"),
						r.String("responseKind", "kind"), r.String("scope") == "Namespaced", r.List("verbs")})
				}
			}
		}
	}
	return all
}

func (s served) gv() string {
	if s.group == "" {
		return s.version
	}
	return s.group + "/" + s.version
}

func (s served) collection() string {
	path := "/apis/" + s.gv()
	if s.group == "" {
		path = "/api/" + s.version
	}
	if s.namespaced {
		path += "/namespaces/default"
	}
	return path + "/" + s.resource
}

func (s served) String() string {
	if s.group == "" {
		return s.resource
	}
	return s.resource + "." + s.group
}

// TestEveryKind checks that every kind that discovery lists can be written, read in every format, watched and deleted.
func TestEveryKind(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range (client{t, fake.RunT(t)}).discover() {
		seen[s.String()] = true
		m, ok := minimal[s.String()]
		if s.resource == "componentstatuses" { // read-only
			continue
		}
		if !ok {
			t.Errorf("%s is served, and has no minimal object in this test", s)
			continue
		}
		name := m.name
		if name == "" {
			name = "minimal"
		}
		meta := `{"name":"` + name + `"}`
		if !slices.Contains(s.verbs, any("get")) && s.resource != "bindings" { // reviews have no names
			meta = "{}"
		}
		body := `{"kind":"` + s.kind + `","apiVersion":"` + s.gv() + `","metadata":` + meta
		if m.body != "" {
			body += "," + m.body
		}
		t.Run(s.gv()+"/"+s.resource, func(t *testing.T) {
			k := &kindTest{client: client{t, fake.RunT(t)}, is: is.New(t), served: s, name: name, body: body + "}"}
			if slices.Contains(s.verbs, any("get")) {
				k.live(m.after)
				return
			}
			if s.resource == "bindings" {
				k.do("POST", "/api/v1/namespaces/default/pods", `{"metadata":{"name":"p"},"spec":`+podSpec+`}`)
			}
			code, text := k.do("POST", s.collection(), k.body)
			if code != http.StatusCreated {
				t.Fatalf("POST %s: %d %s", k.body, code, text) // a kind that can only be created responds with 201
			}
		})
	}
	for name := range minimal { // order does not matter
		if !seen[name] {
			t.Errorf("%s is not served", name)
		}
	}
}

// kindTest tests the life cycle of one object.
type kindTest struct {
	client
	is     *is.I
	served served
	name   string
	body   string
}

func (k *kindTest) path() string { return k.served.collection() + "/" + k.name }

func (k *kindTest) live(after string) {
	events := k.get(context.Background(), k.served.collection()+"?watch=1&resourceVersion="+rev(k.srv.Revision()))
	k.must("POST", k.served.collection(), "application/json", k.body, http.StatusCreated)
	k.read()
	k.write()
	k.remove(after)
	k.srv.Close()
	data, err := io.ReadAll(events.Body)
	k.is.NoErr(err)
	var types []string
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		e := k.parse(line)
		if (object.Object{"o": e["object"]}).String("o", "metadata", "name") == k.name {
			types = append(types, e.String("type"))
		}
	}
	k.is.True(len(types) >= 5)                 // a watch sees the creation, three changes and the deletion
	k.is.Equal(types[0], "ADDED")              // first
	k.is.Equal(types[len(types)-1], "DELETED") // last
	for _, eventType := range types[1 : len(types)-1] {
		k.is.Equal(eventType, "MODIFIED") // all others
	}
}

// must sends a request that must get a response with the code, and returns the object in the response.
func (k *kindTest) must(method, path, contentType, body string, code int) object.Object {
	k.t.Helper()
	got, _, text := k.ask(method, path, contentType, "application/json", body)
	if got != code {
		k.t.Fatalf("%s %s %s: %d %s", method, path, body, got, text)
	}
	return k.parse(text)
}

// readMore are the kinds whose stored objects at first lack fields that readers see. A PUT of an object as it was read
// is stored, although it does not seem to change anything, as on a real server (resource.Strategy.ReadsMore).
var readMore = map[string]bool{"persistentvolumeclaims": true, "jobs.batch": true}

// read reads the object in every format. Writing an object back in a writable format changes nothing.
func (k *kindTest) read() {
	before := k.must("GET", k.path(), "", "", http.StatusOK)
	if readMore[k.served.String()] {
		now := k.must("PUT", k.path(), "application/json", string(object.JSON(map[string]any(before))), http.StatusOK)
		k.is.True(now.ResourceVersion() != before.ResourceVersion()) // it was stored
		before = now
	}
	for _, media := range []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"} {
		code, header, text := k.ask("GET", k.path(), "", media, "")
		k.is.Equal(code, http.StatusOK)
		k.is.Equal(header.Get("Content-Type"), media) // the requested format
		after := k.must("PUT", k.path(), media, text, http.StatusOK)
		k.is.Equal(string(object.JSON(map[string]any(after))), string(object.JSON(map[string]any(before)))) // the same object, at the same revision
	}
	for _, version := range []string{"v1", "v1beta1"} {
		for _, path := range []string{k.path(), k.served.collection()} {
			table := k.as("Table", version, path)
			k.is.True(len(table.List("columnDefinitions")) > 0)          // has columns
			row := object.Object(table.List("rows")[0].(map[string]any)) // and rows
			cells := len(row.List("cells"))
			if k.served.resource == "ipaddresses" {
				cells-- // the real server, too, prints an age without a column for it
			}
			k.is.Equal(cells, len(table.List("columnDefinitions")))           // as many as columns
			k.is.Equal(row.String("object", "kind"), "PartialObjectMetadata") // with metadata
		}
		partial := k.as("PartialObjectMetadata", version, k.path())
		k.is.Equal(partial.ResourceVersion(), before.ResourceVersion()) // the metadata
		k.is.True(partial["spec"] == nil)                               // nothing else
		k.as("PartialObjectMetadataList", version, k.served.collection())
	}
}

func (k *kindTest) as(kind, version, path string) object.Object {
	k.t.Helper()
	code, _, text := k.ask("GET", path, "", "application/json;as="+kind+";v="+version+";g=meta.k8s.io", "")
	obj := k.parse(text)
	k.is.Equal(code, http.StatusOK)
	k.is.Equal(obj.Kind(), kind)
	k.is.Equal(obj.APIVersion(), "meta.k8s.io/"+version)
	return obj
}

// write changes the object with each verb that writes.
func (k *kindTest) write() {
	obj := k.must("GET", k.path(), "", "", http.StatusOK)
	obj.Set("1", "metadata", "labels", "updated")
	k.must("PUT", k.path(), "application/json", string(object.JSON(map[string]any(obj))), http.StatusOK)
	k.must("PATCH", k.path(), "application/merge-patch+json", `{"metadata":{"labels":{"merged":"1"}}}`, http.StatusOK)
	k.must("PATCH", k.path(), "application/strategic-merge-patch+json", `{"metadata":{"labels":{"strategic":"1"}}}`, http.StatusOK)
	k.must("PATCH", k.path(), "application/json-patch+json", `[{"op":"add","path":"/metadata/labels/json","value":"1"}]`, http.StatusOK)
	k.must("PATCH", k.path()+"?fieldManager=m", "application/apply-patch+yaml",
		`{"kind":"`+k.served.kind+`","apiVersion":"`+k.served.gv()+`","metadata":{"name":"`+k.name+`","labels":{"applied":"1"}}}`, http.StatusOK)
	obj = k.must("GET", k.path(), "", "", http.StatusOK)
	for _, label := range []string{"updated", "merged", "strategic", "json", "applied"} {
		k.is.Equal(obj.Labels()[label], "1") // every write is there
	}
}

// remove removes the object completely.
func (k *kindTest) remove(after string) {
	k.must("DELETE", k.path()+"?gracePeriodSeconds=0", "", "", http.StatusOK)
	code, text := k.do("GET", k.path(), "")
	if code == http.StatusNotFound {
		return
	}
	obj := k.parse(text)
	k.is.True(obj.DeletionTimestamp() != "") // its deletion is pending
	if after != "" {
		obj.Set([]any{}, "spec", "finalizers")
		k.must("PUT", k.path()+"/"+after, "application/json", string(object.JSON(map[string]any(obj))), http.StatusOK)
	} else {
		k.must("PATCH", k.path(), "application/merge-patch+json", `{"metadata":{"finalizers":null}}`, http.StatusOK)
	}
	code, _ = k.do("GET", k.path(), "")
	k.is.Equal(code, http.StatusNotFound)
}
