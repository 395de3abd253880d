package core

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// podStreams returns the streaming subresources of pods.
func podStreams() map[string]*resource.Stream {
	return map[string]*resource.Stream{
		"attach": {Instead: "there are no containers to attach to; test against an interface of your own in front of the call",
			Refuse: refuseIn(true), Connects: true, Upgrades: true},
		"exec": {Instead: "there are no containers to run a command in; test against an interface of your own in front of the call",
			Refuse: refuseIn(true), Connects: true, Upgrades: true},
		"log": {Instead: "there are no containers that write logs; set the pod's status through /status instead", Refuse: refuseLog, Text: true},
		"portforward": {Instead: "there are no containers that listen; connect to your own server in the test",
			Refuse: refuseIn(false), Connects: true, Upgrades: true},
		"proxy": proxy(),
	}
}

// proxy returns the proxy subresource of a pod, a service or a node.
func proxy() *resource.Stream {
	return &resource.Stream{Instead: "there is nothing to connect to behind it; connect to your own server in the test", Refuse: refuseProxy, Connects: true}
}

func refuseProxy(r *resource.StreamRequest) *status.Status {
	target, ok := proxied(r.Name)
	if !ok {
		return status.BadRequest("invalid %s request %q", strings.TrimSuffix(r.Definition.Resource, "s"), r.Name)
	}
	obj := r.Objects.Get(r.Definition.Storage, r.Namespace, target)
	switch {
	case r.Definition.Storage == "services":
		return refuseService(r, target, obj)
	case obj == nil:
		return status.NotFound(r.Definition.GroupResource(), target)
	case r.Definition.Storage == "nodes":
		return refuseNode(obj)
	}
	ips := obj.Objects("status", "podIPs")
	if len(ips) == 0 || !proxyable(ips[0].String("ip")) {
		return status.BadRequest("address not allowed")
	}
	return nil
}

// proxyable reports whether a proxy may connect to an address.
func proxyable(text string) bool {
	ip, err := netip.ParseAddr(text)
	return err == nil && net.IP(ip.AsSlice()).IsGlobalUnicast()
}

// refuseService checks that a service has an endpoint to which a proxy may connect. A port number must be that of a port of the
// service.
func refuseService(r *resource.StreamRequest, name string, service object.Object) *status.Status {
	_, port, _ := strings.Cut(r.Name, name+":")
	if number, err := strconv.ParseInt(port, 10, 64); err == nil {
		if service == nil {
			return status.NotFound(r.Definition.GroupResource(), name)
		}
		ports := service.Objects("spec", "ports")
		i := slices.IndexFunc(ports, func(p object.Object) bool { return p.Int64("port") == number })
		if i < 0 {
			return status.Unavailable(fmt.Sprintf("no service port %d found for service %q", number, name))
		}
		port = ports[i].String("name")
	}
	if r.Server.Since(37) {
		return refuseSlices(r, name, port)
	}
	endpoints := r.Objects.Get("endpoints", r.Namespace, name)
	if endpoints == nil {
		return status.NotFound(r.Definition.GroupResource(), name)
	}
	subsets := endpoints.Objects("subsets")
	if len(subsets) == 0 {
		return status.Unavailable(fmt.Sprintf("no endpoints available for service %q", name))
	}
	for _, subset := range subsets {
		named := slices.ContainsFunc(subset.Objects("ports"), func(p object.Object) bool { return p.String("name") == port })
		if named && slices.ContainsFunc(subset.Objects("addresses"), func(a object.Object) bool {
			ref := a.At("targetRef")
			return ref.String("kind") == "Pod" && isPod(r, ref, a.String("ip"))
		}) {
			return nil
		}
	}
	return status.Unavailable(fmt.Sprintf("no endpoints available for service %q", r.Name))
}

// refuseSlices checks that a service has a ready endpoint of a port, as servers since 1.37 do: by EndpointSlices, without the Service
// (k8s.io/apiserver/pkg/util/proxy.RandomEndpoint).
func refuseSlices(r *resource.StreamRequest, service, port string) *status.Status {
	found := false
	r.Objects.Items("endpointslices.discovery.k8s.io", r.Namespace, func(it *resource.Item) bool {
		slice := it.Shared()
		if slice.Labels()["kubernetes.io/service-name"] != service {
			return true
		}
		named := slices.ContainsFunc(slice.Objects("ports"), func(p object.Object) bool { return p.String("name") == port && p.Has("port") })
		found = named && slices.ContainsFunc(slice.Objects("endpoints"), func(e object.Object) bool {
			ready, known := e.Bool("conditions", "ready")
			addresses := e.Strings("addresses") // only the first is used
			return (ready || !known) && len(addresses) > 0 && isPod(r, e.At("targetRef"), addresses[0])
		})
		return !found
	})
	if !found {
		return status.Unavailable(fmt.Sprintf("no endpoints available for service %q", service))
	}
	return nil
}

// isPod reports whether the address of an endpoint is that of the pod to which it refers.
func isPod(r *resource.StreamRequest, ref object.Object, address string) bool {
	if ref == nil || ref.String("namespace") != r.Namespace {
		return false
	}
	pod := r.Objects.Get("pods", r.Namespace, ref.String("name"))
	return slices.ContainsFunc(pod.Objects("status", "podIPs"), func(ip object.Object) bool { return ip.String("ip") == address })
}

// addressTypes are the types of node addresses at which the API server contacts a kubelet, most preferred first
// (--kubelet-preferred-address-types).
var addressTypes = []string{"Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"}

// kubeletAddress returns the address of a node's kubelet. It returns an error if the node has no address.
func kubeletAddress(node object.Object) (string, *status.Status) {
	addresses := node.Objects("status", "addresses")
	for _, preferred := range addressTypes {
		for _, a := range addresses {
			if a.String("type") == preferred {
				return a.String("address"), nil
			}
		}
	}
	var known []string
	for _, a := range addresses {
		known = append(known, fmt.Sprintf("{%s %s}", a.String("type"), a.String("address")))
	}
	return "", status.Plain("no preferred addresses found; known addresses: [%s]", strings.Join(known, " "))
}

// refuseNode checks that a proxy may connect to the address of a node. It does not look up hostnames.
func refuseNode(node object.Object) *status.Status {
	address, s := kubeletAddress(node)
	if s == nil && net.ParseIP(address) != nil && !proxyable(address) {
		return status.BadRequest("address not allowed")
	}
	return s
}

// refuseIn returns a function that rejects connections to a missing pod or, if container is true, to a missing container.
func refuseIn(container bool) func(*resource.StreamRequest) *status.Status {
	return func(r *resource.StreamRequest) *status.Status { return refusePod(r, container) }
}

func refuseLog(r *resource.StreamRequest) *status.Status {
	errs, err := checkLogOptions(r.Query)
	if err != nil {
		return status.BadRequest("%s", err.Error())
	}
	if len(errs) > 0 {
		return status.Invalid(status.Resource{Resource: "PodLogOptions"}, r.Name, errs)
	}
	return refusePod(r, true)
}

// refusePod checks that the pod and its node exist. If inContainer is true, it also checks the requested container.
func refusePod(r *resource.StreamRequest, inContainer bool) *status.Status {
	pod := r.Objects.Get(r.Definition.Storage, r.Namespace, r.Name)
	if pod == nil {
		return status.NotFound(r.Definition.GroupResource(), r.Name)
	}
	if inContainer {
		container := ""
		if asked := r.Query["container"]; len(asked) > 0 {
			container = asked[0]
		}
		if s := checkContainer(pod, container); s != nil {
			return s
		}
	}
	name := pod.String("spec", "nodeName")
	if name == "" {
		return nil
	}
	node := r.Objects.Get("nodes", "", name)
	if node == nil {
		return status.NotFound(r.Definition.GroupResource(), name) // sic: the error names the node as a pod
	}
	_, s := kubeletAddress(node)
	return s
}

// proxied returns the name of the target in a proxy request. ok reports whether id has the form name, name:port or
// scheme:name:port, where the scheme is "", http or https.
func proxied(id string) (name string, ok bool) {
	switch parts := strings.Split(id, ":"); len(parts) {
	case 1, 2:
		name, ok = parts[0], true
	case 3:
		name, ok = parts[1], slices.Contains([]string{"", "http", "https"}, parts[0])
	}
	return name, ok && name != ""
}

// checkContainer checks that the requested container exists. A request need not name the container if the pod has only one.
func checkContainer(pod object.Object, container string) *status.Status {
	names := kind.Texts(slices.Collect(podspec.Containers(pod.At("spec"))), "name")
	switch {
	case container == "" && len(pod.List("spec", "containers")) > 1:
		return status.BadRequest("a container name must be specified for pod %s, choose one of: %s", pod.Name(), fmt.Sprint(names))
	case container != "" && !slices.Contains(names, container):
		return status.BadRequest("container %s is not valid for pod %s", container, pod.Name())
	}
	return nil
}

// readLogOptions parses the numbers and times in a log query, in the order of the fields of PodLogOptions. It returns an error for
// the first invalid one.
func readLogOptions(query map[string][]string) error {
	for _, name := range []string{"sinceSeconds", "sinceTime", "tailLines", "limitBytes"} {
		if len(query[name]) == 0 {
			continue
		}
		text := query[name][0]
		if name != "sinceTime" {
			if _, err := strconv.ParseInt(text, 10, 64); err != nil {
				return err
			}
		} else if _, err := time.Parse(time.RFC3339, text); text != "" && text != "null" && err != nil {
			return err
		}
	}
	return nil
}

// checkLogOptions checks a log query (PodLogOptions). It returns err if a number or time cannot be parsed.
func checkLogOptions(query map[string][]string) (errs field.ErrorList, err error) {
	if err := readLogOptions(query); err != nil {
		return nil, err
	}
	const positive = "must be greater than 0"
	number := func(name string) (int64, bool) {
		if len(query[name]) == 0 {
			return 0, false
		}
		n, _ := strconv.ParseInt(query[name][0], 10, 64)
		return n, true
	}
	at := field.CursorAt(nil, nil)
	check := func(name string, least int64, text string) {
		if n, ok := number(name); ok {
			at.Child(name).With(n).Min(least, text)
		}
	}
	check("tailLines", 0, field.TextNonNegative)
	check("limitBytes", 1, positive)
	if _, ok := number("sinceSeconds"); ok && len(query["sinceTime"]) > 0 {
		at.Report(field.ErrorList{field.Forbidden(podspec.Whole, "at most one of `sinceTime` or `sinceSeconds` may be specified")})
	} else {
		check("sinceSeconds", 1, positive)
	}
	at.Child("stream").ForbidIf(len(query["stream"]) > 0, "may not be specified")
	return at.Errors(), nil
}
