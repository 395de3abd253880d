package resource

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// A client that changes the status of a claim needs additional permissions, depending on the fields that it changes
// (KEP-4817 and gate DRAResourceClaimGranularStatusAuthorization; pkg/registry/resource, AuthorizedForBinding and
// AuthorizedForDeviceStatus): on resourceclaims/binding for the fields of schedulers, and on resourceclaims/driver of
// each driver for the fields of drivers.

// nodeOfToken is the key in a user's extra values that contains the node of the pod to which the token is bound.
const nodeOfToken = "authentication.kubernetes.io/node-name"

// authorizeClaim checks that the user has the permissions needed for the changes to a claim's status.
func authorizeClaim(ctx *resource.Context, at field.Cursor) {
	if ctx.May != nil && ctx.Enabled("DRAResourceClaimGranularStatusAuthorization") {
		authorizeBinding(ctx, at)
		authorizeDevices(ctx, at)
	}
}

func authorizeBinding(ctx *resource.Context, at field.Cursor) {
	status, before := at.Object(), at.Old()
	reserved := func(ref, was object.Object) bool { return gotext.Same(gotext.ResourceClaimConsumerReference, ref, was) }
	same := gotext.Same(gotext.AllocationResult, status.At("allocation"), before.At("allocation")) &&
		status.Has("allocation") == before.Has("allocation") &&
		slices.EqualFunc(status.Objects("reservedFor"), before.Objects("reservedFor"), reserved)
	if same {
		return
	}
	if refused := ctx.May(resource.Access{Verb: ctx.Verb, Subresource: "binding"}); refused != nil { // a permission for all claims in all namespaces
		at.Child("allocation").Forbidden(fmt.Sprintf(`changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="%s" permission: %s`,
			ctx.Verb, refused.Message))
	}
}

// authorizeDevices checks the permissions for those drivers whose device status an update changes. A claim without an allocation
// has no device status.
func authorizeDevices(ctx *resource.Context, at field.Cursor) {
	status := at.Object()
	drivers := changedDrivers(status.Objects("devices"), at.Old().Objects("devices"))
	if len(drivers) == 0 || !status.Has("allocation") {
		return
	}
	verbs := []string{"arbitrary-node:" + ctx.Verb}
	if node := allocatedNode(status); node != "" && node == nodeOfAccount(ctx.User) {
		verbs = []string{"associated-node:" + ctx.Verb, verbs[0]}
	}
	for _, driver := range drivers {
		why := ""
		for _, verb := range verbs {
			refused := ctx.May(resource.Access{Verb: verb, Subresource: "driver", Namespace: ctx.Namespace, Name: driver})
			if refused == nil {
				why = ""
				break
			}
			if why == "" {
				why = refused.Message
			}
		}
		at.Child("devices").ForbidIf(why != "", fmt.Sprintf(
			`changing status.devices requires resource="resourceclaims/driver", verb="%s" permission: %s`, verbs, why))
	}
}

// changedDrivers returns the drivers of devices that were added, removed or changed, sorted.
func changedDrivers(devices, before []object.Object) []string {
	was := map[string]object.Object{}
	for _, d := range before {
		was[deviceID(d)] = d
	}
	var drivers []string
	for _, d := range devices {
		id := deviceID(d)
		if earlier, ok := was[id]; !ok || !gotext.Same(gotext.AllocatedDeviceStatus, d, earlier) {
			drivers = append(drivers, d.String("driver"))
		}
		delete(was, id)
	}
	for _, id := range object.SortedKeys(was) {
		drivers = append(drivers, was[id].String("driver"))
	}
	return kind.SortedSet(drivers)
}

// allocatedNode returns the node that the claim's allocation selects by name, or "" if it does not select exactly one.
func allocatedNode(status object.Object) string {
	terms := status.Objects("allocation", "nodeSelector", "nodeSelectorTerms")
	if len(terms) != 1 || len(terms[0].List("matchExpressions")) > 0 {
		return ""
	}
	fields := terms[0].Objects("matchFields")
	if len(fields) != 1 || fields[0].String("key") != "metadata.name" || fields[0].String("operator") != "In" || len(fields[0].List("values")) != 1 {
		return ""
	}
	name, _ := fields[0].List("values")[0].(string)
	return name
}

// nodeOfAccount returns the node to which the token of a service account is bound. For other users and tokens it returns "".
func nodeOfAccount(user resource.User) string {
	parts := strings.Split(user.Name, ":")
	nodes := user.Extra[nodeOfToken]
	if len(parts) != 4 || parts[0] != "system" || parts[1] != "serviceaccount" || len(nodes) != 1 {
		return ""
	}
	return nodes[0]
}
