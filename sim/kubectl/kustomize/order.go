package kustomize

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// first and last list the kinds that the legacy order puts at the beginning and at the end (SortOrderTransformer).
var (
	first = []string{"Namespace", "ResourceQuota", "StorageClass", "CustomResourceDefinition", "ServiceAccount", "PodSecurityPolicy",
		"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "ConfigMap", "Secret", "Endpoints", "Service", "LimitRange",
		"PriorityClass", "PersistentVolume", "PersistentVolumeClaim", "Deployment", "StatefulSet", "CronJob", "PodDisruptionBudget"}
	last = []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}
)

// order sorts the items as the sortOptions of the outermost kustomization require. The default is the legacy order: by kind, then by
// group, version, namespace and name.
func order(k object.Object, all []*item) error {
	options := k.At("sortOptions")
	head, tail := first, last
	if legacy := options.At("legacySortOptions"); legacy != nil {
		head, tail = legacy.Strings("orderFirst"), legacy.Strings("orderLast")
	}
	switch options.String("order") {
	case "fifo":
		return nil
	case "legacy", "":
	default:
		return fmt.Errorf("the field 'sortOptions.order' must be one of [fifo, legacy]")
	}
	slices.SortStableFunc(all, func(a, b *item) int {
		return cmp.Or(cmp.Compare(rank(a, head, tail), rank(b, head, tail)), strings.Compare(sortKey(a), sortKey(b)))
	})
	return nil
}

// rank is negative for kinds of head, positive for those of tail, and 0 for all others.
func rank(it *item, head, tail []string) int {
	if i := slices.Index(tail, it.obj.Kind()); i >= 0 {
		return 1 + i
	}
	if i := slices.Index(head, it.obj.Kind()); i >= 0 {
		return i - len(head)
	}
	return 0
}

// sortKey returns the text by which objects of one rank are sorted (legacyGVKSortString, legacyResIDSortString).
func sortKey(it *item) string {
	return strings.Join([]string{cmp.Or(groupOf(it.obj), "~G"), versionOf(it.obj), it.obj.Kind()}, "_") +
		"|" + cmp.Or(it.obj.Namespace(), "~X") + "|" + it.obj.Name()
}
