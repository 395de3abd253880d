package controller_test

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
)

// TestOwnedLags checks that a controller with lagging informers sees the dependents that an owner had when the lag began, even if
// they have been deleted since.
func TestOwnedLags(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	_, m := start(t, "lags", "sees")
	sees := m.Client("sees")
	create := func(of, name string, owners ...any) {
		_, s := sees.Create(of, object.Object{"metadata": map[string]any{"name": name, "namespace": "default", "ownerReferences": owners}})
		is.True(s == nil)
	}
	ref := func(uid string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid}
	}
	names := func(name string) (names []string) {
		for _, ref := range m.Client(name).Owned("1") {
			names = append(names, ref.Resource+" "+ref.Name)
		}
		return names
	}
	create("configmaps", "goes", ref("1"))
	create("secrets", "stays", ref("1"))
	is.Equal(names("sees"), []string{"configmaps goes", "secrets stays"})
	is.NoErr(m.Lag("lags", "configmaps"))
	is.True(sees.Delete("configmaps", controller.Key{Namespace: "default", Name: "goes"}, controller.Preconditions{}) == nil)
	create("configmaps", "comes", ref("1"))
	create("secrets", "new", ref("1"))
	is.Equal(names("sees"), []string{"secrets stays", "configmaps comes", "secrets new"})
	is.Equal(names("lags"), []string{"secrets stays", "secrets new", "configmaps goes"})
	is.Equal(len(m.Client("lags").Orphans("configmaps", "default")), 1) // owner 1 is not a controller
	is.NoErr(m.Resume("lags"))
	is.Equal(names("lags"), names("sees"))
}
