package operator

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	v2 "github.com/kubesim/kubesim/examples/operator/api/v2"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/ctrl"
	"github.com/kubesim/kubesim/sim/auth"
)

const account = "system:serviceaccount:site-system:site-controller-manager"

// The role is sufficient for all operations of the operator, and contains no unnecessary rights.
func TestRole(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		srv := fake.RunT(t, fake.Options{Clock: clock.System{}, Auth: auth.RBAC})
		is.NoErr(srv.Load("config/crd.yaml", "config/webhooks.yaml", "config/role.yaml"))
		ctrl.Start(t, srv, Setup, ctrl.Options{Scheme: Scheme(), User: account})
		is.NoErr(srv.Seed(&v2.Site{ObjectMeta: named("blog"), Spec: v2.SiteSpec{Image: "blog:1"}}))
		settle(time.Minute)
		is.NoErr(srv.Seed(&v2.Site{ObjectMeta: named("blog"), Spec: v2.SiteSpec{Image: "blog:2"}}))
		settle(time.Minute)

		p := srv.Permissions(account)
		is.Equal(len(p.Missing), 0)
		is.Equal(len(p.Unused), 0)
		role, err := os.ReadFile("config/role.yaml")
		is.NoErr(err)
		_, rules, _ := strings.Cut(p.ClusterRole(), "\nrules:")
		is.True(strings.Contains(string(role), rules)) // the file is what it prints
	})
}
