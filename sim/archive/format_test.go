package archive_test

import (
	"compress/gzip"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/archive"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/kubelet"
	"github.com/kubesim/kubesim/sim/wire"
)

// patch sends a merge patch.
func patch(c *sim.Cluster, path, body string) (code int) {
	q := &apiserver.Request{Method: "PATCH", Path: path, Header: wire.Header{"Content-Type": {"application/merge-patch+json"}}, Body: []byte(body), Query: url.Values{}}
	c.Server(1).Start(q, func(a *apiserver.Answer) { code = a.Code })
	return code
}

// A cluster from an archive of format 1 continues its work: a definition waits for the deletion of its last object, and an object
// that servers have to clean up is still deleted. testdata contains an archive in that format.
func TestFormat1(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	f, err := os.Open("testdata/format1.archive.gz")
	is.NoErr(err)
	defer f.Close()
	data, err := gzip.NewReader(f)
	is.NoErr(err)
	a, err := archive.Read(data)
	is.NoErr(err)
	c, err := a.Cluster()
	is.NoErr(err)
	gone := func(path string) bool { return strings.Contains(ask(c, "GET", path, "", ""), `"code":404`) }
	const definition, flow = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com",
		"/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/stray"

	is.Equal(a.Info().Time, clock.Epoch().Add(19*time.Second)) // 12 s after the definition was deleted
	is.Equal(patch(c, "/apis/example.com/v1/widgets/w", `{"metadata":{"finalizers":null}}`), wire.StatusOK)
	c.Clock().(*clock.Manual).Advance(2 * time.Second)
	is.True(!gone(definition)) // the third check is not due yet
	c.Clock().(*clock.Manual).Advance(time.Second)
	is.True(gone(definition)) // 15 s after: the third check
	is.True(!gone(flow))
	c.Clock().(*clock.Manual).Advance(38 * time.Second)
	is.True(gone(flow)) // a minute after it was created
}

// Options that have other names in format 2 are renamed. testdata contains an archive in that format.
func TestFormat2(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	f, err := os.Open("testdata/format2.archive.gz")
	is.NoErr(err)
	defer f.Close()
	data, err := gzip.NewReader(f)
	is.NoErr(err)
	a, err := archive.Read(data)
	is.NoErr(err)
	is.Equal(a.Info().Options, sim.Options{Seed: 7, Auth: auth.RBAC, Tokens: []auth.Token{{Token: "t", User: auth.User{Name: "u"}}},
		Authorizers: []string{"RBAC"}, NoAnonymous: true, RequestHeader: auth.RequestHeader{AllowedNames: []string{"proxy"}},
		ServiceAccounts: token.Options{Issuers: []string{"https://i"}}, Plugins: []string{"ServiceAccount"},
		Replicas: []sim.ReplicaOptions{{Version: "1.35"}, {NoPrivileged: true}}, Bare: true, Controllers: []string{"*", "-cronjob-controller"},
		Nodes: 2, Images: map[string]kubelet.Image{"i": {Start: time.Second}}, WriteGap: time.Millisecond, ServiceCIDR: "10.1.0.0/24",
		Advertise: "192.0.2.7", WithoutPlugins: []string{"LimitRanger"}, MinRequestTimeout: time.Minute, Port: 8443, RootCA: "r",
		Admission: admission.Config{PodSecurity: admission.PodSecurity{Usernames: []string{"x"}}}, Trace: 5, NoHashes: true})
	_, err = a.Cluster()
	is.NoErr(err)
}
