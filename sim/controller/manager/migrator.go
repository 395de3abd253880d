package manager

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	migrations  = "storageversionmigrations.storagemigration.k8s.io"
	definitions = "customresourcedefinitions.apiextensions.k8s.io"

	// runner is the field manager of a definition's conditions during a migration.
	runner = "migration-runner-controller"

	// discoverable is the time after the creation of a migration for which a missing resource is looked for again.
	discoverable = time.Minute
)

// StorageVersionMigrator writes all objects of a resource again, in the version in which the server stores them now (KEP-4192,
// pkg/controller/storageversionmigrator). Each step writes the status of the StorageVersionMigration, and thereby leads to the next:
//
//	begin: Running ─▶ check: status.resourceVersion ─▶ run: Succeeded or Failed ─▶ finish: not Running
//
// One migration of a resource runs at a time, and the oldest begins first. While it runs, the definition of a custom resource has the
// condition StorageMigrating. When it succeeds, status.storedVersions of the definition contains only the storage version. The real
// controller waits before run until its cache of the resource has reached the resourceVersion; here the cache always has.
func StorageVersionMigrator() controller.Controller {
	const name = "storage-version-migrator-controller"
	return controller.Account(name, name, controller.Func(migrate),
		controller.Watch{Resource: migrations, Keys: func(api *controller.Client, c *commit.Commit) (keys []controller.Key) {
			of := cmp.Or(c.Item(), c.Before()).Shared().At("spec", "resource")
			for _, m := range migrationsOf(api, of) { // its end lets another one begin
				keys = append(keys, controller.Key{Name: m.Name()})
			}
			return keys
		}})
}

// migrationsOf returns the migrations of a resource, the oldest first.
func migrationsOf(api *controller.Client, of object.Object) (list []object.Object) {
	for _, m := range api.All(migrations, "") {
		if groupResource(m.At("spec", "resource")) == groupResource(of) {
			list = append(list, m)
		}
	}
	slices.SortStableFunc(list, func(a, b object.Object) int {
		return cmp.Or(cmp.Compare(created(a), created(b)), cmp.Compare(a.Name(), b.Name()))
	})
	return list
}

func created(obj object.Object) string { return obj.String("metadata", "creationTimestamp") }

func groupResource(of object.Object) status.Resource {
	return status.Resource{Group: of.String("group"), Resource: of.String("resource")}
}

// migration is a StorageVersionMigration that is being reconciled.
type migration struct {
	object.Object
	api *controller.Client
}

// migrate takes the next step of a migration.
func migrate(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	obj := api.Get(migrations, "", key.Name)
	if obj == nil {
		return 0, nil
	}
	m := migration{obj, api}
	switch ended := isTrue(obj, "Succeeded") || isTrue(obj, "Failed"); {
	case ended && isTrue(obj, "Running"):
		return 0, m.finish()
	case ended:
		return 0, nil
	case !isTrue(obj, "Running"):
		return 0, m.begin()
	case obj.String("status", "resourceVersion") == "":
		return 0, m.check()
	default:
		return 0, m.run()
	}
}

func isTrue(obj object.Object, condition string) bool {
	return obj.Condition(condition).String("status") == "True"
}

// write sets a condition and updates the status.
func (m migration) write(kind, value, reason, message string) *status.Status {
	controller.SetCondition(m.Object, m.api.Now(), kind, value, reason, message)
	_, s := m.api.Update(migrations, "status", m.Object)
	return s
}

func (m migration) fail(message string) *status.Status {
	return m.write("Failed", "True", "StorageVersionMigrationFailed", message)
}

// begin makes the migration the running one of its resource, unless another one runs or is older.
func (m migration) begin() *status.Status {
	for _, other := range migrationsOf(m.api, m.At("spec", "resource")) {
		ended := isTrue(other, "Succeeded") || isTrue(other, "Failed")
		if !ended && isTrue(other, "Running") {
			return nil
		}
		if !ended && other.Name() == m.Name() {
			break
		}
		if !ended {
			return nil
		}
	}
	if s := m.markDefinition("True", "MigrationRunning", fmt.Sprintf("Migration %s is running", m.Name()), ""); s != nil {
		return s
	}
	return m.write("Running", "True", "MigrationRunning", "The migration is running")
}

// markDefinition sets the condition StorageMigrating of the resource's definition, if there is one, and its stored version, if that
// is not "".
func (m migration) markDefinition(value, reason, message, stored string) *status.Status {
	crd := m.definition()
	if crd == nil {
		return nil
	}
	fields := map[string]any{"conditions": []any{map[string]any{"type": "StorageMigrating", "status": value, "lastTransitionTime": object.Time(m.api.Now()),
		"reason": reason, "message": message, "observedGeneration": crd.Generation()}}}
	if stored != "" {
		fields["storedVersions"] = []any{stored}
	}
	_, s := m.api.As(runner).Apply(definitions, "status", controller.Key{Name: crd.Name()}, object.Object{"status": fields})
	return s
}

// definition returns the definition of the resource, or nil if it is a built-in one.
func (m migration) definition() object.Object {
	return m.api.Live(definitions, "", groupResource(m.At("spec", "resource")).String())
}

// served returns the definition with which the server serves the resource in its preferred version, or nil.
func (m migration) served() *resource.Definition {
	of := groupResource(m.At("spec", "resource"))
	for _, d := range m.api.Resources() {
		if d.Group == of.Group && d.Resource == of.Resource {
			return d
		}
	}
	return nil
}

// check records the revision up to which objects are written again. Later ones are stored in the new version anyway.
func (m migration) check() *status.Status {
	d := m.served()
	if d == nil {
		if at, err := time.Parse(time.RFC3339, created(m.Object)); err == nil && at.Add(discoverable).After(m.api.Now()) {
			return status.Plain("resource does not exist in our rest mapper, requeuing to attempt again")
		}
		return m.fail("resource does not exist in discovery")
	}
	verbs := []string{"update", "patch", "list"}
	if slices.ContainsFunc(verbs, func(v string) bool { return !d.Allows(v) }) {
		return m.fail(fmt.Sprintf("resource %q does not support discovery operations: %v", d.Group+"/"+d.Version+", Resource="+d.Resource, verbs))
	}
	m.Set(strconv.FormatUint(m.api.Revision(), 10), "status", "resourceVersion")
	_, s := m.api.Update(migrations, "status", m.Object)
	return s
}

// run writes the objects again, and ends the migration. If the server is too busy, run fails and is tried again.
func (m migration) run() *status.Status {
	d := m.served()
	if d == nil {
		return m.fail("migration encountered unhandled error: unable to obtain GVR from discovery")
	}
	until, _ := strconv.ParseUint(m.String("status", "resourceVersion"), 10, 64)
	total := 0
	var old []*resource.Item
	of := d.Hub.GroupResource().String()
	m.api.Items(of, "", func(it *resource.Item) bool {
		if total++; it.Rev <= until {
			old = append(old, it)
		}
		return true
	})
	for i, it := range old {
		rev := strconv.FormatUint(it.Rev, 10)
		s := m.api.Patch(of, "", controller.Key{Namespace: it.Namespace, Name: it.Name}, func(live object.Object) { live.SetMeta("resourceVersion", rev) })
		switch left := len(old) - i; {
		case s == nil || s.Reason == status.ReasonConflict || s.Reason == status.ReasonNotFound: // or it was written or deleted since
		case retriable(s):
			_ = m.write("Running", "True", "MigrationRunning", running(left, total)+"; transient error: "+s.Message) // run is tried again in any case
			return s
		default:
			controller.SetCondition(m.Object, m.api.Now(), "Running", "True", "MigrationRunning", running(left, total))
			return m.fail(fmt.Sprintf("%d/%d not yet migrated. migration encountered unhandled error: %s", left, total, s.Message))
		}
	}
	controller.SetCondition(m.Object, m.api.Now(), "Running", "True", "MigrationRunning", running(0, total))
	return m.write("Succeeded", "True", "StorageVersionMigrationSucceeded", "Migration completed")
}

// running returns the message of the condition Running.
func running(left, total int) string {
	switch {
	case total == 0:
		return "The migration is running"
	case left > 0:
		return fmt.Sprintf("The migration is running, %d/%d objects not yet migrated", left, total)
	default:
		return fmt.Sprintf("The migration is running, %d objects verified migrated", total)
	}
}

// retriable reports whether a write that failed may succeed later.
func retriable(s *status.Status) bool {
	switch s.Reason {
	case status.ReasonServerTimeout, status.ReasonTooManyRequests, status.ReasonUnavailable, status.ReasonInternal, status.ReasonTimeout:
		return true
	}
	return false
}

// finish records in the definition and in the migration that it no longer runs. The stored versions are left alone if the definition
// has changed meanwhile.
func (m migration) finish() *status.Status {
	if crd := m.definition(); crd != nil {
		reason, message, stored := "MigrationFailed", "The migration has failed", ""
		if isTrue(m.Object, "Succeeded") {
			reason, message = "MigrationSucceeded", "The migration has succeeded but the stored versions have not been updated due to a generation mismatch"
		}
		if crd.Condition("StorageMigrating").Int64("observedGeneration") == crd.Generation() {
			for _, v := range crd.Objects("spec", "versions") {
				if v["storage"] == true {
					stored = v.String("name")
				}
			}
			if reason == "MigrationSucceeded" {
				message = "The migration has succeeded and the stored versions have been updated"
			}
		}
		if s := m.markDefinition("False", reason, message, stored); s != nil {
			return s
		}
	}
	controller.SetCondition(m.Object, m.api.Now(), "Running", "False", "MigrationCompleted", "Migration completed")
	m.Condition("Running")["observedGeneration"] = m.Generation()
	_, s := m.api.Update(migrations, "status", m.Object)
	return s
}
