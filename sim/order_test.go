package sim_test

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// A deletecollection that waited for a revision deletes the object created at that revision, but only after all listeners have been
// notified of the creation. Otherwise the garbage collector would keep the object as a dependent, and make its owner wait for it.
func TestCommitsAreToldInOrder(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c, err := sim.New(sim.Options{Controllers: controller.All})
	is.NoErr(err)
	const configMaps, secrets = "/api/v1/namespaces/default/configmaps", "/api/v1/namespaces/default/secrets"
	owned := func(name, owner string) string {
		obj, err := object.Parse([]byte(ask(c, "GET", configMaps+"/"+owner, "")))
		is.NoErr(err)
		return fmt.Sprintf(`{"metadata":{"name":%q,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":%q,"uid":%q}]}}`, name, owner, obj.UID())
	}
	ask(c, "POST", configMaps, `{"metadata":{"name":"root"}}`)
	ask(c, "POST", configMaps, owned("branch", "root"))
	ask(c, "POST", configMaps, `{"metadata":{"name":"other"}}`)
	ask(c, "DELETE", configMaps+"/other", "") // from now on the collector knows the graph of owners

	leaf, deleted := owned("leaf", "branch"), false
	c.Server(1).Start(&apiserver.Request{Method: "DELETE", Path: secrets, Header: wire.Header{},
		Query: url.Values{"resourceVersion": {fmt.Sprint(c.Revision() + 1)}}}, func(*apiserver.Answer) { deleted = true })
	is.True(!deleted) // it waits
	ask(c, "POST", secrets, leaf)
	is.True(deleted)

	var branch []string // its states from now on
	c.OnCommit(func(x sim.Commit) {
		if x.Name == "branch" {
			branch = append(branch, string(x.Object))
		}
	})
	ask(c, "DELETE", configMaps+"/root", `{"propagationPolicy":"Foreground"}`)
	is.Equal(branch, []string{""}) // it has nothing: it is gone at once
}
