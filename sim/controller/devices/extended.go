package devices

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// ImplicitPrefix, followed by the name of a DeviceClass, is the name of an extended resource that each class provides.
const ImplicitPrefix = "deviceclass.resource.kubernetes.io/"

// ExtendedClaim is the annotation with the value "true" of a claim that was created for the extended resources of a pod.
const ExtendedClaim = "resource.kubernetes.io/extended-resource-claim"

// ExtendedResources returns the name of the device class for each extended resource that one of the classes provides (KEP-5004). Among
// classes with the same extendedResourceName, the newest wins, and among equally old ones the first by name. kube-scheduler
// (extendedresourcecache.ExtendedResourceCache) forgets the others when the newest is deleted; this function does not.
func ExtendedResources(classes []object.Object) map[string]string {
	classes = slices.Clone(classes)
	slices.SortFunc(classes, func(a, b object.Object) int {
		return cmp.Or(strings.Compare(a.String("metadata", "creationTimestamp"), b.String("metadata", "creationTimestamp")),
			strings.Compare(b.Name(), a.Name()))
	})
	names := map[string]string{}
	for _, class := range classes { // a later one replaces earlier ones
		name := object.Keep(class.Name())
		if resource := class.String("spec", "extendedResourceName"); resource != "" {
			names[object.Keep(resource)] = name
		}
		names[ImplicitPrefix+name] = name
	}
	return names
}

// user is a container that requests an extended resource.
type user struct {
	name  string
	index int // among the init containers and containers
	nth   int // the position of the resource among the names of the container's requests, sorted
	count int64
	short bool // an init container that ends before the containers start
}

// usersOf returns the containers of a pod that request a resource, in the order in which they start.
func usersOf(pod object.Object, name string) (users []user) {
	first := pod.Objects("spec", "initContainers")
	for i, c := range slices.Concat(first, pod.Objects("spec", "containers")) {
		requests := c.Map("resources", "requests")
		count := quantity.Of(requests[name]).Value()
		if count == 0 {
			continue
		}
		users = append(users, user{name: c.String("name"), index: i, nth: slices.Index(object.SortedKeys(requests), name), count: count,
			short: i < len(first) && c.String("restartPolicy") != "Always"})
	}
	return users
}

// deviceRequest is a request of devices for a container.
type deviceRequest struct {
	name  string
	index int // of the container
	count int64
}

func (u user) request(count int64) deviceRequest {
	return deviceRequest{fmt.Sprintf("container-%d-request-%d", u.index, u.nth), u.index, count}
}

// ExtendedRequests returns the device requests of a claim for extended resources of a pod, and which of them each container uses,
// as in status.extendedResourceClaimStatus.requestMappings. classes has the device class of each resource
// (dynamicresources.createRequestsAndMappings). An init container that ends before the others start uses the devices of containers that
// start later. If it needs more, one additional request is for all such init containers.
func ExtendedRequests(pod object.Object, classes map[string]string) (requests, mappings []any) {
	var all []deviceRequest
	classOf := map[string]string{} // by name of the request
	for _, resource := range object.SortedKeys(classes) {
		long, used := longRequests(pod, resource)
		extra, usedFirst := shortRequest(pod, resource, long)
		if extra.count > 0 {
			long = append(long, extra)
		}
		for _, r := range long {
			classOf[r.name] = classes[resource]
		}
		all, mappings = append(all, long...), slices.Concat(mappings, used, usedFirst)
	}
	slices.SortFunc(all, func(a, b deviceRequest) int { return strings.Compare(a.name, b.name) })
	for _, r := range all {
		requests = append(requests, map[string]any{"name": r.name, "exactly": map[string]any{"deviceClassName": classOf[r.name],
			"allocationMode": "ExactCount", "count": r.count}})
	}
	return requests, mappings
}

// longRequests returns the requests of the containers that run until the pod ends.
func longRequests(pod object.Object, resource string) (requests []deviceRequest, mappings []any) {
	for _, u := range usersOf(pod, resource) {
		if !u.short {
			r := u.request(u.count)
			requests, mappings = append(requests, r), append(mappings, mapping(u, resource, r.name))
		}
	}
	return requests, mappings
}

// shortRequest returns the request for the devices that init containers need beside the devices of containers that start later. Its
// count is 0 if they need none.
func shortRequest(pod object.Object, resource string, long []deviceRequest) (extra deviceRequest, mappings []any) {
	var needy []user
	uses := map[int][]string{} // the names of the requests of later containers, by index of the init container
	users := slices.DeleteFunc(usersOf(pod, resource), func(u user) bool { return !u.short })
	for _, u := range users {
		left := u.count
		for _, r := range long {
			if r.index >= u.index && left > 0 {
				uses[u.index], left = append(uses[u.index], r.name), left-r.count
			}
		}
		if left <= 0 {
			continue
		}
		needy = append(needy, u)
		if left > extra.count {
			extra = u.request(left)
		}
	}
	for _, u := range users {
		for _, name := range uses[u.index] {
			mappings = append(mappings, mapping(u, resource, name))
		}
		if slices.Contains(needy, u) {
			mappings = append(mappings, mapping(u, resource, extra.name))
		}
	}
	return extra, mappings
}

func mapping(u user, resource, request string) any {
	return map[string]any{"containerName": u.name, "resourceName": resource, "requestName": request}
}

// NewExtendedClaim returns the claim for the extended resources of a pod, without requests and without a name.
func NewExtendedClaim(namespace, pod, uid string) object.Object {
	return object.Object{"kind": "ResourceClaim", "apiVersion": "resource.k8s.io/v1", "metadata": map[string]any{"namespace": namespace,
		"generateName": pod + "-extended-resources-", "annotations": map[string]any{ExtendedClaim: "true"},
		"ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": uid, "controller": true}}}}
}
