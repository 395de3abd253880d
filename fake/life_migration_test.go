package fake_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

const inMigrations = "/apis/storagemigration.k8s.io/v1/storageversionmigrations"

// migrating runs a test in virtual time, with a server of 1.37 that runs the storage version migrator.
func migrating(t *testing.T, f func(is *is.I, c client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f(is.New(t), client{t, fake.RunT(t, fake.Options{Clock: clock.System{}, Replicas: []fake.ReplicaOptions{{Version: "1.37"}},
			Controllers: []string{"storage-version-migrator-controller"}})})
	})
}

// migrate creates a migration of a resource.
func (c client) migrate(name, group, resource string) {
	c.t.Helper()
	c.must("POST", inMigrations, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"resource":{"group":%q,"resource":%q}}}`, name, group, resource))
}

func (c client) migration(name string) object.Object {
	c.t.Helper()
	return c.must("GET", inMigrations+"/"+name, "")
}

// widgets is a definition with two versions.
func widgets(stored string) string {
	version := func(name string) string {
		return fmt.Sprintf(`{"name":%q,"served":true,"storage":%t,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}`, name, name == stored)
	}
	return `{"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[` +
		version("v1") + "," + version("v2") + `]}}`
}

// TestMigration checks that a migration stores all objects in the storage version, after which the definition needs no other one, and
// that a second migration of the resource begins when the first has ended.
func TestMigration(t *testing.T) {
	migrating(t, func(is *is.I, c client) {
		const crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
		const inWidgets = "/apis/example.com/v1/namespaces/default/widgets"
		c.must("POST", crd, widgets("v1"))
		pass(time.Second)
		for _, name := range []string{"a", "b"} {
			c.must("POST", inWidgets, fmt.Sprintf(`{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":%q}}`, name))
		}
		c.mergePatch(crd+"/widgets.example.com", `{"spec":`+string(object.JSON(c.parse(widgets("v2")).Map("spec")))+`}`)
		pass(time.Second)
		c.must("POST", inWidgets, `{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"c"}}`)
		definition := func() object.Object { return c.must("GET", crd+"/widgets.example.com", "") }
		rev := func(name string) string { return c.must("GET", inWidgets+"/"+name, "").ResourceVersion() }
		is.Equal(definition().Strings("status", "storedVersions"), []string{"v1", "v2"})
		before := map[string]string{"a": rev("a"), "b": rev("b"), "c": rev("c")}

		c.migrate("first", "example.com", "widgets")
		c.migrate("second", "example.com", "widgets")
		pass(time.Second)
		for name, was := range before {
			is.Equal(rev(name) != was, name != "c") // c is already stored in v2
		}
		first := c.migration("first")
		is.Equal(says(first, "Running"), "False MigrationCompleted: Migration completed")
		is.Equal(says(first, "Succeeded"), "True StorageVersionMigrationSucceeded: Migration completed")
		is.Equal(definition().Strings("status", "storedVersions"), []string{"v2"})
		is.Equal(says(definition(), "StorageMigrating"), "False MigrationSucceeded: The migration has succeeded and the stored versions have been updated")
		is.Equal(says(c.migration("second"), "Succeeded"), says(first, "Succeeded"))
	})
}

// TestMigrationFails checks migrations of resources that do not exist or do not allow updates.
func TestMigrationFails(t *testing.T) {
	migrating(t, func(is *is.I, c client) {
		c.migrate("missing", "example.com", "widgets")
		c.migrate("computed", "", "componentstatuses")
		pass(time.Second)
		is.Equal(says(c.migration("computed"), "Failed"), `True StorageVersionMigrationFailed: resource "/v1, Resource=componentstatuses" does not support discovery operations: [update patch list]`)
		is.Equal(says(c.migration("missing"), "Running"), "True MigrationRunning: The migration is running")
		pass(10 * time.Minute)
		is.Equal(says(c.migration("missing"), "Failed"), "True StorageVersionMigrationFailed: resource does not exist in discovery")
		is.Equal(says(c.migration("missing"), "Running"), "False MigrationCompleted: Migration completed")
	})
}

// TestMigrationRetries checks that a migration goes on after a write was refused because the server is too busy, that it fails after
// any other refusal, and that objects of a built-in kind that are up to date are not written.
func TestMigrationRetries(t *testing.T) {
	migrating(t, func(is *is.I, c client) {
		c.must("POST", someMaps, `{"metadata":{"name":"a"}}`)
		rev := c.must("GET", someMaps+"/a", "").ResourceVersion()
		reason, left := "TooManyRequests", 2
		c.webhook("Validating", "validating", "")
		c.srv.Admit("validating.example.com", func(review fake.AdmissionReview) fake.AdmissionReview {
			left--
			review["response"] = map[string]any{"allowed": left < 0, "status": map[string]any{"code": int64(429), "reason": reason, "message": "later"}}
			return review
		})
		c.migrate("busy", "", "configmaps")
		pass(time.Minute)
		is.Equal(says(c.migration("busy"), "Succeeded"), "True StorageVersionMigrationSucceeded: Migration completed")
		is.True(left < 0)
		is.Equal(c.must("GET", someMaps+"/a", "").ResourceVersion(), rev)

		reason, left = "Forbidden", 1
		c.migrate("refused", "", "configmaps")
		pass(time.Minute)
		is.Equal(says(c.migration("refused"), "Failed"), "True StorageVersionMigrationFailed: 2/2 not yet migrated. migration encountered unhandled error: "+
			`admission webhook "validating.example.com" denied the request: later`)
	})
}
