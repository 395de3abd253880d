package boot

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"maps"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/core"
	"github.com/kubesim/kubesim/sim/builtin/rbac"
	"github.com/kubesim/kubesim/sim/object"
)

// adapted are the kinds of objects that depend on the servers.
var adapted = map[string]bool{"ConfigMap": true, "Service": true, "Endpoints": true, "EndpointSlice": true, "Lease": true,
	"ServiceCIDR": true, "IPAddress": true}

// adapt returns the objects that the servers of o create instead of a recorded object: with their own addresses, and with one lease
// per server.
func (o Options) adapt(x own) []own {
	switch {
	case x.obj.Kind() == "ConfigMap" && x.obj.String("data", "client-ca-file") == "" && x.obj.Map("data")["client-ca-file"] != nil:
		if len(o.Authentication) == 0 {
			return nil
		}
		data, owned := map[string]any{}, map[string]any{".": map[string]any{}}
		x.obj["data"] = data
		for name, value := range o.Authentication { // order does not matter
			data[name] = value
			owned["f:"+name] = map[string]any{}
		}
		entry := first(x.obj, "metadata", "managedFields")
		fields := maps.Clone(entry.Map("fieldsV1")) // copies of the object share fieldsV1
		fields["f:data"], entry["fieldsV1"] = owned, fields
	case x.obj.Kind() == "Service":
		first(x.obj, "spec", "ports")["targetPort"] = int64(o.Port)
		if ip := o.serviceAddress(); ip != "" {
			x.obj.Set(ip, "spec", "clusterIP")
			x.obj.Set([]any{ip}, "spec", "clusterIPs")
			x.obj.Set([]any{o.family()}, "spec", "ipFamilies")
		}
	case x.obj.Kind() == "ServiceCIDR" && len(o.ServiceCIDRs) > 0:
		var all []any
		for _, p := range o.ServiceCIDRs {
			all = append(all, p.Masked().String())
		}
		x.obj.Set(all, "spec", "cidrs")
	case x.obj.Kind() == "IPAddress" && len(o.ServiceCIDRs) > 0:
		x.obj.Set(o.serviceAddress(), "metadata", "name")
		x.obj.Set(o.family(), "metadata", "labels", "ipaddress.kubernetes.io/ip-family")
	case x.obj.Kind() == "Endpoints":
		subset := first(x.obj, "subsets")
		first(subset, "ports")["port"] = int64(o.Port)
		var addresses []any
		for _, s := range o.Servers {
			addresses = append(addresses, map[string]any{"ip": s.Address})
		}
		subset["addresses"] = addresses
	case x.obj.Kind() == "EndpointSlice":
		first(x.obj, "ports")["port"] = int64(o.Port)
		var endpoints []any
		for _, s := range o.Servers {
			endpoints = append(endpoints, map[string]any{"addresses": []any{s.Address}, "conditions": map[string]any{"ready": true}})
		}
		x.obj["endpoints"], x.obj["addressType"] = endpoints, o.family()
	case x.obj.Kind() == "Lease":
		return o.leases(x)
	default:
		return []own{x}
	}
	x.line = nil
	return []own{x}
}

// serviceAddress returns the cluster IP of the Service kubernetes, or "" if it is the one in the data.
func (o Options) serviceAddress() string {
	if len(o.ServiceCIDRs) == 0 {
		return ""
	}
	return o.ServiceCIDRs[0].Masked().Addr().Next().String()
}

// family returns the IP family of the Service kubernetes and of its endpoints.
func (o Options) family() string { return core.FamilyOf(o.serviceAddress()) }

// first returns the first object in the list at the path.
func first(obj object.Object, path ...string) object.Object { return object.As(obj.List(path...)[0]) }

// aggregate sets the rules of aggregated ClusterRoles, as the controller does.
func aggregate(all []own) {
	var roles []object.Object
	for _, x := range all {
		if x.obj.Kind() == "ClusterRole" {
			roles = append(roles, x.obj)
		}
	}
	for changed := true; changed; {
		changed = false
		for i := range all {
			obj := all[i].obj
			if rules, changes := rbac.AggregatedRules(obj, roles); changes {
				if obj["rules"] == nil {
					entries := obj.List("metadata", "managedFields")
					obj.Set(append([]any{aggregated(entries)}, entries...), "metadata", "managedFields")
				}
				obj["rules"], all[i].line, changed = rules, nil, true
			}
		}
	}
}

// aggregated returns the managedFields entry of the controller that aggregates ClusterRoles.
func aggregated(entries []any) map[string]any {
	m := object.Copy(entries[0]).(map[string]any)
	m["manager"], m["operation"], m["fieldsV1"] = "clusterrole-aggregation-controller", "Apply", map[string]any{"f:rules": map[string]any{}}
	return m
}

// leases returns the identity leases of the servers (KEP-1965).
func (o Options) leases(x own) []own {
	var all []own
	for _, s := range o.Servers {
		obj := x.obj.Copy()
		s.identify(obj, o.Port)
		all = append(all, own{d: x.d, obj: obj})
	}
	return all
}

// identify sets the fields of an identity lease that depend on the server.
func (s Server) identify(lease object.Object, port int) {
	name := LeaseName(s.Host)
	lease.Set(name, "metadata", "name")
	lease.Set(s.Host, "metadata", "labels", "kubernetes.io/hostname")
	lease.Set(net.JoinHostPort(s.Address, strconv.Itoa(port)), "metadata", "annotations", "kubernetes.io/peer-advertise-address")
	lease.Set(name+"_"+noUID, "spec", "holderIdentity")
}

const microTime = "2006-01-02T15:04:05.000000Z07:00"

// Identity returns the identity of the server in the Leases of leader election: its machine and a uid.
func (s Server) Identity() string { return s.Host + "_" + string(uid(s.Host)) }

// leaseSeconds is the duration of an identity lease (IdentityLeaseDurationSeconds).
const leaseSeconds = 3600

// Lease returns a new identity lease of the server, renewed now.
func (s Server) Lease(port int, now time.Time) object.Object {
	obj := object.Object{"metadata": map[string]any{"namespace": "kube-system", "labels": map[string]any{IdentityLabel: "kube-apiserver"}},
		"spec": map[string]any{"leaseDurationSeconds": int64(leaseSeconds), "renewTime": now.UTC().Format(microTime)}}
	s.identify(obj, port)
	obj.Set(obj.Name()+"_"+string(uid(obj.Name())), "spec", "holderIdentity")
	return obj
}

// IdentityLabel is the label of API server leases. Its value is the kind of server.
const IdentityLabel = "apiserver.kubernetes.io/identity"

// LeaseName returns the name of an API server's lease on a machine.
func LeaseName(host string) string { return "apiserver-" + identity(host) }

// identity returns the identity of an API server on a machine, which is part of the name of its lease (pkg/server.NewConfig). It
// depends on the machine and the kind of server.
func identity(host string) string {
	var text []byte
	for _, part := range []string{host, "kube-apiserver"} {
		text = append(binary.BigEndian.AppendUint16(text, uint16(len(part))), part...)
	}
	sum := sha256.Sum256(text)
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:16]))
}
