package core

import (
	"net"
	"strconv"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

func endpointsKind() kind.Kind {
	return kind.Kind{
		Storage:    "endpoints",
		KeyPrefix:  "services/endpoints",
		Deprecated: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
		Strategy: resource.Strategy{
			Checks:              resource.Checks{Update: []resource.Check{resource.CheckMetaUpdate, resource.CheckMeta, resource.CheckKind}},
			AllowCreateOnUpdate: true,
			Warn:                warnEndpoints,
		},
		Validate: func(ctx *resource.Context, at field.Cursor) {
			if subsets := at.Child("subsets"); !at.Updates() || subsets.Changed() { // older servers may have stored invalid subsets
				validateSubsets(ctx, subsets)
			}
		},
		Defaults: kind.EveryVersion(func(obj object.Object) {
			for _, subset := range obj.Objects("subsets") {
				for _, port := range subset.Objects("ports") {
					kind.SetEmpty(port, "TCP", "protocol")
				}
			}
		}),
		Columns: []table.Column{table.Name(), table.Doc("Endpoints", table.DocCore+"Endpoints", "subsets").Cell(endpointsCell), table.Age()},
	}
}

func validateSubsets(ctx *resource.Context, subsets field.Cursor) {
	for subset := range subsets.Each() {
		subset.RequireIf(subset.Len("addresses") == 0 && subset.Len("notReadyAddresses") == 0, "must specify `addresses` or `notReadyAddresses`")
		for _, list := range []string{"addresses", "notReadyAddresses"} {
			for address := range subset.Each(list) {
				ip := address.Child("ip").OrEmpty()
				ip.Check(kind.IP(ctx))
				address.Child("hostname").IfGiven().Check(field.DNS1123Label)
				address.Child("nodeName").Check(field.DNS1123Subdomain)
				CheckEndpointIP(ip)
			}
		}
		for port := range subset.Each("ports") {
			validatePort(port, subset.Len("ports") > 1, nil)
			port.Child("appProtocol").Check(field.QualifiedName)
		}
	}
}

// validatePort checks the rules that ports of Endpoints and of Services share. If named is true, the port must have a
// name. If seen is not nil, the name must be unique.
func validatePort(port field.Cursor, named bool, seen field.Seen) {
	name := port.Child("name").IfGiven().Check(field.DNS1123Label)
	if name.Has() && seen != nil {
		name.Unique(seen)
	}
	name.RequireIf(named && !name.Has(), "")
	port.Child("port").OrZero().CheckInt(field.PortNumber)
	port.Child("protocol").Required().OneOf("SCTP", "TCP", "UDP")
}

func warnEndpoints(ctx *resource.Context, obj, _ object.Object) {
	if obj.Labels()["endpoints.kubernetes.io/managed-by"] == "endpoint-controller" {
		return
	}
	for subset := range field.CursorAt(obj, nil).Each("subsets") {
		for _, list := range []string{"addresses", "notReadyAddresses"} {
			for address := range subset.Each(list) {
				kind.WarnIP(ctx, address.Path("ip"), address.String("ip"))
			}
		}
	}
}

// endpointsCell returns a cell that shows the first three ready addresses.
func endpointsCell(obj object.Object) any {
	if len(obj.List("subsets")) == 0 {
		return table.None
	}
	var list []string
	for _, subset := range obj.Objects("subsets") {
		ports := subset.Objects("ports")
		for _, port := range ports {
			for _, address := range subset.Objects("addresses") {
				list = append(list, net.JoinHostPort(address.String("ip"), strconv.FormatInt(port.Int64("port"), 10)))
			}
		}
		for _, address := range subset.Objects("addresses") {
			if len(ports) == 0 {
				list = append(list, address.String("ip"))
			}
		}
	}
	return table.FirstCell(list, 3, ",")
}
