package manager

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	namespaces = "namespaces"
	pods       = "pods"
	events     = "events"

	apiServices = "apiservices.apiregistration.k8s.io"

	// namespaceGrace is the delay before a deleted namespace is emptied. By then all API servers reject new objects in it.
	namespaceGrace = 5 * time.Second
	// namespaceRetryMax is the maximum delay between two attempts to empty a namespace.
	namespaceRetryMax = time.Minute
	// finalizerEstimate is the estimated time that objects with finalizers take to be removed.
	finalizerEstimate = 15 * time.Second
	// namespaceFinalizer is this controller's finalizer in a namespace's spec.finalizers.
	namespaceFinalizer = "kubernetes"
)

// Namespace deletes the contents of namespaces that are being deleted, with pods first. It reports the remaining contents in the
// namespaces' conditions, and finalizes the namespaces when nothing is left (pkg/controller/namespace, KEP-5080).
func Namespace() controller.Controller {
	c := controller.Account("namespace-controller", "namespace-controller", controller.Func(emptyNamespace),
		controller.Watch{Resource: namespaces, Keys: deletedNamespace, After: namespaceGrace})
	c.RetryMax = namespaceRetryMax
	return c
}

func deletedNamespace(_ *controller.Client, c *commit.Commit) []controller.Key {
	if it := c.Item(); it != nil && !c.Deleted() && it.Object().DeletionTimestamp() != "" {
		return []controller.Key{{Name: c.Name}}
	}
	return nil
}

func emptyNamespace(api *controller.Client, key controller.Key) (again time.Duration, failed *status.Status) {
	live := api.Live(namespaces, "", key.Name)
	if live == nil || live.DeletionTimestamp() == "" || len(live.Strings("spec", "finalizers")) == 0 {
		return 0, nil
	}
	left := remainingContent{api: api, namespace: live}
	left.deleteContent()
	left.report()
	if len(left.stale) > 0 {
		left.errors = append(left.errors, left.discoveryError())
	}
	switch {
	case len(left.errors) > 0:
		return 0, status.Internal(errors.New(strings.Join(left.errors, ", ")))
	case left.estimate > 0:
		return left.estimate/2/time.Second*time.Second + time.Second, nil
	}
	failed = api.Patch(namespaces, "finalize", key, func(live object.Object) {
		live.Set(slices.DeleteFunc(live.List("spec", "finalizers"), func(v any) bool { return v == namespaceFinalizer }), "spec", "finalizers")
	})
	if failed != nil && failed.Reason == status.ReasonNotFound {
		return 0, nil
	}
	return 0, failed
}

// remainingContent is the content of a namespace that is left after an attempt to empty it.
type remainingContent struct {
	api        *controller.Client
	namespace  object.Object
	estimate   time.Duration // time until the content is gone
	counts     map[string]int
	finalizers map[string]int
	errors     []string
	stale      []string // group versions whose resources cannot be discovered
}

// discover finds the group versions whose API servers are unavailable. Since their objects in the namespace are unknown, the
// namespace cannot be removed.
func (r *remainingContent) discover() {
	r.api.LiveItems(apiServices, "", func(it *resource.Item) bool {
		obj := it.Object()
		if _, remote := obj.Get("spec", "service"); remote && obj.Condition("Available").String("status") != "True" {
			r.stale = append(r.stale, obj.String("spec", "group")+"/"+obj.String("spec", "version"))
		}
		return true
	})
	slices.Sort(r.stale)
}

// discoveryError returns the error that clients get for stale group versions (discovery.ErrGroupDiscoveryFailed).
func (r *remainingContent) discoveryError() string {
	var each []string
	for _, version := range r.stale {
		each = append(each, version+": stale GroupVersion discovery: "+version)
	}
	return "unable to retrieve the complete list of server APIs: " + strings.Join(each, ", ")
}

// deleteContent deletes the pods and, once there are no pods, everything else.
func (r *remainingContent) deleteContent() {
	r.counts, r.finalizers = map[string]int{}, map[string]int{}
	r.discover()
	all := slices.DeleteFunc(slices.Clone(r.api.Resources()), func(d *resource.Definition) bool {
		return !d.Namespaced || !slices.Contains(d.Verbs, "delete")
	})
	first := slices.IndexFunc(all, func(d *resource.Definition) bool { return d.Storage == pods })
	if first >= 0 {
		if s := r.deleteAll(all[first]); s != "" {
			r.errors = append(r.errors, s)
		}
		if len(r.counts) > 0 {
			r.counts, r.finalizers = nil, nil // report nothing before all content has been visited
			return
		}
		all = slices.Delete(all, first, first+1)
	}
	for _, d := range all {
		if s := r.deleteAll(d); s != "" {
			r.errors = append(r.errors, s)
		}
	}
}

// deleteAll deletes the objects of a resource and counts the remaining ones. It returns the message of an error, or "".
func (r *remainingContent) deleteAll(d *resource.Definition) string {
	grace := r.grace(d)
	if slices.Contains(d.Verbs, "deletecollection") {
		if s := r.api.DeleteCollection(d, r.namespace.Name(), "Background"); s != nil && s.Reason != status.ReasonNotFound {
			r.estimate = max(r.estimate, grace)
			return s.Message
		}
	}
	n, held := 0, false
	r.api.LiveItems(d.Storage, r.namespace.Name(), func(it *resource.Item) bool {
		n++
		for _, name := range it.Object().Finalizers() {
			r.finalizers[name]++
			held = true
		}
		return true
	})
	if n == 0 {
		return ""
	}
	r.counts[d.Resource+"."+d.Group] = n
	if grace == 0 && held {
		grace = finalizerEstimate
	}
	r.estimate = max(r.estimate, grace)
	if grace == 0 {
		return fmt.Sprintf("unexpected items still remain in namespace: %s for gvr: %s/%s, Resource=%s", r.namespace.Name(), d.Group,
			d.Version, d.Resource)
	}
	return ""
}

// grace returns the longest grace period of the running pods, or 0 if that time has passed since the namespace was deleted.
func (r *remainingContent) grace(d *resource.Definition) (longest time.Duration) {
	if d.Storage != pods {
		return 0
	}
	r.api.LiveItems(pods, r.namespace.Name(), func(it *resource.Item) bool {
		pod := it.Object()
		if phase := pod.String("status", "phase"); phase != "Succeeded" && phase != "Failed" {
			seconds, _ := pod.Int("spec", "terminationGracePeriodSeconds")
			longest = max(longest, time.Duration(seconds)*time.Second)
		}
		return true
	})
	deleted, _ := time.Parse(time.RFC3339, r.namespace.DeletionTimestamp())
	if r.api.Now().Sub(deleted) >= longest {
		return 0
	}
	return longest
}

// namespaceConditions lists the conditions that this controller maintains, with their reasons and messages if there is no
// failure.
var namespaceConditions = []struct{ kind, reason, message string }{
	{"NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"},
	{"NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions", "All legacy kube types successfully parsed"},
	{"NamespaceDeletionContentFailure", "ContentDeleted", "All content successfully deleted, may be waiting on finalization"},
	{"NamespaceContentRemaining", "ContentRemoved", "All content successfully removed"},
	{"NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished"},
}

// report updates the conditions of the namespace if they have changed. A failed write is ignored, because the next attempt
// repeats it.
func (r *remainingContent) report() {
	wrong := map[string][2]string{}
	if n := len(r.stale); n > 0 {
		wrong["NamespaceDeletionDiscoveryFailure"] = [2]string{"DiscoveryFailed",
			fmt.Sprintf("Discovery failed for some groups, %d failing: %s", n, r.discoveryError())}
	}
	if n := len(r.errors); n > 0 {
		slices.Sort(r.errors)
		wrong["NamespaceDeletionContentFailure"] = [2]string{"ContentDeletionFailed",
			fmt.Sprintf("Failed to delete all resource types, %d remaining: %s", n, strings.Join(r.errors, ", "))}
	}
	if len(r.counts) > 0 {
		wrong["NamespaceContentRemaining"] = [2]string{"SomeResourcesRemain",
			"Some resources are remaining: " + counted(r.counts, "%s has %d resource instances")}
	}
	if len(r.finalizers) > 0 {
		wrong["NamespaceFinalizersRemaining"] = [2]string{"SomeFinalizersRemain",
			"Some content in the namespace has finalizers remaining: " + counted(r.finalizers, "%s in %d resource instances")}
	}
	changed := false
	for _, c := range namespaceConditions {
		value, say := "False", [2]string{c.reason, c.message}
		if bad, ok := wrong[c.kind]; ok {
			value, say = "True", bad
		}
		changed = controller.SetCondition(r.namespace, r.api.Now(), c.kind, value, say[0], say[1]) || changed
	}
	if changed {
		_, _ = r.api.Update(namespaces, "status", r.namespace)
	}
}

// counted formats each number with its name, and returns the results sorted and joined.
func counted(numbers map[string]int, format string) string {
	var all []string
	for name, n := range numbers { // sorted below
		all = append(all, fmt.Sprintf(format, name, n))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
