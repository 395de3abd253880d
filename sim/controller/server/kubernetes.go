package server

import (
	"net/netip"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/core"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	// KubernetesService is the name of the controller of the Service kubernetes.
	KubernetesService = "kubernetes-service-controller"

	endpointSlices = "endpointslices.discovery.k8s.io"
	masterCount    = "master-count" // value of --endpoint-reconciler-type

	// endpointInterval is the interval at which an API server checks the Service (DefaultEndpointReconcilerInterval).
	endpointInterval = 10 * time.Second
)

// The keys of the controller of the Service kubernetes.
var (
	kubernetesKey = controller.Key{Namespace: "default", Name: "kubernetes"}
	// MembersKey is queued when API servers over the store start or stop.
	MembersKey = controller.Key{Name: "members"}
	// StopKey is queued before the API servers of the Cluster stop.
	StopKey = controller.Key{Name: "stop"}
)

// Kubernetes maintains the Service kubernetes, its Endpoints and its EndpointSlice (kube-apiserver, pkg/controlplane/controller/
// kubernetesservice and pkg/controlplane/reconcilers). A real server checks them every ten seconds from its start. This controller
// checks them when API servers start and stop, and ten seconds after another client has changed them. The real reconciler "lease"
// has a key in etcd for each server, which it renews. Here the store's processes know each other.
func Kubernetes(o *config.Cluster, m Machines) controller.Controller {
	k := &kubernetes{options: o, machines: m}
	keys := func(_ *controller.Client, c *commit.Commit) []controller.Key {
		if c.Namespace != kubernetesKey.Namespace || c.Name != kubernetesKey.Name || c.Created() {
			return nil
		}
		return []controller.Key{kubernetesKey}
	}
	return Own(KubernetesService, k, controller.Watch{Resource: "services", Keys: keys}, controller.Watch{Resource: "endpoints", Keys: keys},
		controller.Watch{Resource: endpointSlices, Keys: keys})
}

type kubernetes struct {
	options  *config.Cluster
	machines Machines
	memory   struct {
		Changed time.Time `json:",omitzero"` // time at which a change by another client was found
	}
}

// Memory implements controller.Rememberer.
func (k *kubernetes) Memory() any { return &k.memory }

// Reconcile implements controller.Reconciler.
func (k *kubernetes) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	service := api.LiveShared("services", kubernetesKey.Namespace, kubernetesKey.Name)
	endpoints := api.Live("endpoints", kubernetesKey.Namespace, kubernetesKey.Name)
	slice := api.Live(endpointSlices, kubernetesKey.Namespace, kubernetesKey.Name)
	has := addressesOf(endpoints)
	want := k.addresses(has, key == StopKey)
	if service != nil && endpoints != nil && slice != nil && slices.Equal(has, want) && slices.Equal(sliceAddresses(slice), want) {
		k.memory.Changed = time.Time{}
		return 0, nil
	}
	if key == kubernetesKey {
		if k.memory.Changed.IsZero() {
			k.memory.Changed = api.Now()
		}
		if left := k.memory.Changed.Add(endpointInterval).Sub(api.Now()); left > 0 {
			return left, nil
		}
	}
	k.memory.Changed = time.Time{}
	if service == nil {
		if _, s := api.Create("services", k.service()); s != nil {
			return endpointInterval, s
		}
	}
	if s := write(api, "endpoints", endpoints, k.endpoints(want)); s != nil {
		return endpointInterval, s
	}
	return 0, write(api, endpointSlices, slice, k.slice(want))
}

// write creates or updates an object of the Service kubernetes. change contains its labels and its top-level fields.
func write(api *controller.Client, of string, live, change object.Object) *status.Status {
	if live == nil {
		_, s := api.Create(of, change)
		return s
	}
	for name, value := range change { // order does not matter
		if name != "metadata" {
			live[name] = value
		}
	}
	_, s := api.Update(of, "", live)
	return s
}

// addresses returns the addresses that the Endpoints should have. has contains their current addresses.
func (k *kubernetes) addresses(has []string, stops bool) (want []string) {
	switch k.options.EndpointReconciler {
	case masterCount:
		want = slices.Clone(has)
		for _, own := range k.own() {
			if stops {
				want = slices.DeleteFunc(want, func(ip string) bool { return ip == own })
			} else {
				want = withMaster(want, own, max(k.options.EndpointServers, 1))
			}
		}
		return want
	case "none":
		return has
	}
	want = k.machines.PeerAddresses()
	if !stops {
		want = append(want, k.own()...)
	}
	slices.Sort(want)
	if want = slices.Compact(want); len(want) == 0 {
		return has // the last server does not remove its address, so that a restart changes nothing
	}
	return want
}

// own returns the addresses of the Cluster's API servers.
func (k *kubernetes) own() (all []string) {
	for _, s := range k.machines.Servers() {
		all = append(all, s.Address)
	}
	return all
}

// withMaster returns addresses with one more, of at most limit servers. The addresses after it are removed (masterCountEndpointReconciler).
func withMaster(addresses []string, own string, limit int) []string {
	if slices.Contains(addresses, own) && len(addresses) <= limit {
		return addresses
	}
	addresses = append(addresses, own)
	slices.Sort(addresses)
	addresses = slices.Compact(addresses)
	for len(addresses) > limit {
		next := (slices.Index(addresses, own) + 1) % len(addresses)
		addresses = slices.Delete(addresses, next, next+1)
	}
	return addresses
}

// addressesOf returns the addresses in Endpoints, which may be nil.
func addressesOf(endpoints object.Object) (all []string) {
	for _, subset := range endpoints.Objects("subsets") {
		for _, address := range subset.Objects("addresses") {
			all = append(all, address.String("ip"))
		}
	}
	return all
}

func sliceAddresses(slice object.Object) (all []string) {
	for _, endpoint := range slice.Objects("endpoints") {
		all = append(all, endpoint.Strings("addresses")...)
	}
	return all
}

func kubernetesMeta(labels map[string]any) map[string]any {
	return map[string]any{"name": kubernetesKey.Name, "namespace": kubernetesKey.Namespace, "labels": labels}
}

// service returns the Service with the first address of the range.
func (k *kubernetes) service() object.Object {
	first := netip.MustParsePrefix(k.options.ServiceRanges()[0]).Masked().Addr().Next()
	return object.Object{"metadata": kubernetesMeta(map[string]any{"component": "apiserver", "provider": "kubernetes"}),
		"spec": map[string]any{"type": "ClusterIP", "sessionAffinity": "None", "clusterIP": first.String(), "clusterIPs": []any{first.String()},
			"ipFamilies": []any{core.FamilyOf(first.String())}, "ipFamilyPolicy": "SingleStack",
			"ports": []any{map[string]any{"name": "https", "protocol": "TCP", "port": int64(443), "targetPort": k.port()}}}}
}

func (k *kubernetes) port() int64 { return int64(k.machines.Port()) }

func (k *kubernetes) endpoints(addresses []string) object.Object {
	obj := object.Object{"metadata": kubernetesMeta(map[string]any{"endpointslice.kubernetes.io/skip-mirror": "true"}), "subsets": []any{}}
	if len(addresses) == 0 {
		return obj
	}
	var all []any
	for _, ip := range addresses {
		all = append(all, map[string]any{"ip": ip})
	}
	obj["subsets"] = []any{map[string]any{"addresses": all, "ports": []any{map[string]any{"name": "https", "port": k.port(), "protocol": "TCP"}}}}
	return obj
}

func (k *kubernetes) slice(addresses []string) object.Object {
	family, all := "IPv4", []any{}
	for _, ip := range addresses {
		family = core.FamilyOf(ip)
		all = append(all, map[string]any{"addresses": []any{ip}, "conditions": map[string]any{"ready": true}})
	}
	return object.Object{"metadata": kubernetesMeta(map[string]any{"kubernetes.io/service-name": kubernetesKey.Name}), "addressType": family, "endpoints": all,
		"ports": []any{map[string]any{"name": "https", "port": k.port(), "protocol": "TCP"}}}
}
