package fake_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

// customOwner returns the uid of a new site, a custom object.
func customOwner(c client, name string) (uid string) {
	c.do("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", siteCRD)
	return c.parse(second(c.do("POST", sitesPath, `{"apiVersion":"web.example.com/v1","kind":"Site","metadata":{"name":"`+name+`"}}`))).UID()
}

const sitesPath = "/apis/web.example.com/v1/namespaces/default/sites"

func TestNoTwins(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	bad, srv, c := watched(t)
	srv.NoTwins()
	post := func(name, data, kind, uid string) {
		c.do("POST", mapsPath, fmt.Sprintf(`{"metadata":{"name":%q,"ownerReferences":[{"apiVersion":"web.example.com/v1","kind":%q,"name":"o","uid":%q,"controller":true}]},"data":{"a":%q}}`,
			name, kind, uid, data))
	}
	uid := customOwner(c, "o")
	post("a", "1", "Site", uid)
	post("b", "2", "Site", uid)      // another content
	post("c", "1", "Site", "other")  // another owner
	post("d", "1", "Secret", "same") // owners of built-in kinds may have equal objects
	post("e", "1", "Secret", "same")
	is.Equal(bad.log.String(), "")
	post("f", "1", "Site", uid)
	is.True(strings.Contains(bad.log.String(), "never two alike objects of an owner: Site o has two configmaps in namespace default that differ only in their names: a and f\n"))
}

func TestNoOrphans(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	bad, srv, c := watched(t)
	srv.NoOrphans("")
	srv.NoOrphans("sites.web.example.com")
	uid := customOwner(c, "o")
	label := func(name, key, value string) {
		c.do("POST", mapsPath, fmt.Sprintf(`{"metadata":{"name":%q,"labels":{%q:%q}}}`, name, key, value))
	}
	label("a", "web.acme.org/site", "o")
	label("b", "app.kubernetes.io/instance", "another")
	label("c", "other.example.com/site", "o")
	c.do("POST", mapsPath, ownedMap("d", "", uid)) // the garbage collector deletes it
	c.do("PATCH", mapsPath+"/d", `{"metadata":{"labels":{"web.acme.org/site":"o"}}}`)
	c.do("DELETE", sitesPath+"/o", "")
	srv.Clock.Advance(59 * time.Second)
	is.Equal(bad.log.String(), "")
	srv.Clock.Advance(time.Second)
	is.Equal(strings.Count(bad.log.String(), "left behind: Site o has been gone for 1m0s, but not configmaps default/a\n"), 2)
}
