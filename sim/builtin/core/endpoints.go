package core

import (
	"net"
	"strconv"
	"strings"
	"time"

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
			Checks:         resource.Checks{Update: []resource.Check{resource.CheckMetaUpdate, resource.CheckMeta, resource.CheckKind}},
			CreateOnUpdate: true,
			Validate: func(ctx *resource.Context, obj object.Object) field.ErrorList {
				return validateSubsets(ctx, obj)
			},
			ValidateUpdate: func(ctx *resource.Context, obj, old object.Object) field.ErrorList {
				if object.SemanticEqual(obj["subsets"], old["subsets"]) { // older servers may have let them in
					return nil
				}
				return validateSubsets(ctx, obj)
			},
			Warn: warnEndpoints,
		},
		Defaults: kind.EveryVersion(func(obj object.Object) {
			for _, subset := range obj.Objects("subsets") {
				for _, port := range subset.Objects("ports") {
					kind.SetEmpty(port, "protocol", "TCP")
				}
			}
		}),
		Columns: []table.Column{table.Name(), table.Doc("Endpoints", table.DocCore+"Endpoints", "subsets"), table.Age()},
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), endpointsCell(obj), table.AgeCell(now, obj))
		},
	}
}

func validateSubsets(ctx *resource.Context, obj object.Object) field.ErrorList {
	var errs field.ErrorList
	for i, subset := range obj.Objects("subsets") {
		p := field.Root("subsets").Index(i)
		if len(subset.List("addresses")) == 0 && len(subset.List("notReadyAddresses")) == 0 {
			errs = append(errs, field.Required(p, "must specify `addresses` or `notReadyAddresses`"))
		}
		for _, list := range []string{"addresses", "notReadyAddresses"} {
			for j, address := range subset.Objects(list) {
				errs = append(errs, validateEndpointAddress(ctx, p.Child(list).Index(j), address)...)
			}
		}
		ports := subset.Objects("ports")
		for j, port := range ports {
			errs = append(errs, validateEndpointPort(p.Child("ports").Index(j), port, len(ports) > 1)...)
		}
	}
	return errs
}

func validateEndpointAddress(ctx *resource.Context, p field.Path, address object.Object) field.ErrorList {
	ip := address.String("ip")
	errs := kind.ValidateIP(ctx, p.Child("ip"), ip)
	if host := address.String("hostname"); host != "" {
		errs = append(errs, field.Check(p.Child("hostname"), host, field.DNS1123Label)...)
	}
	if address.Has("nodeName") {
		errs = append(errs, kind.ValidateName(p.Child("nodeName"), address.String("nodeName"), field.NameDNSSubdomain)...)
	}
	return append(errs, ValidateEndpointIP(p.Child("ip"), ip)...)
}

func validateEndpointPort(p field.Path, port object.Object, named bool) field.ErrorList {
	var errs field.ErrorList
	if name := port.String("name"); name != "" {
		errs = append(errs, field.Check(p.Child("name"), name, field.DNS1123Label)...)
	} else if named {
		errs = append(errs, field.Required(p.Child("name"), ""))
	}
	number := port.Int64("port")
	errs = append(errs, field.Messages(p.Child("port"), number, field.PortNumber(number))...)
	errs = append(errs, field.MustBeSetToOneOf(p.Child("protocol"), port.String("protocol"), "SCTP", "TCP", "UDP")...)
	if port.Has("appProtocol") {
		errs = append(errs, field.Check(p.Child("appProtocol"), port.String("appProtocol"), field.QualifiedName)...)
	}
	return errs
}

func warnEndpoints(ctx *resource.Context, obj, _ object.Object) {
	if obj.Labels()["endpoints.kubernetes.io/managed-by"] == "endpoint-controller" {
		return
	}
	for i, subset := range obj.Objects("subsets") {
		for _, list := range []string{"addresses", "notReadyAddresses"} {
			for j, address := range subset.Objects(list) {
				p := field.Root("subsets").Index(i).Child(list).Index(j).Child("ip")
				kind.WarnIP(ctx, p, address.String("ip"))
			}
		}
	}
}

// endpointsCell lists the first three addresses that are ready.
func endpointsCell(obj object.Object) string {
	const most = 3
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
	if len(list) <= most {
		return strings.Join(list, ",")
	}
	return strings.Join(list[:most], ",") + " + " + strconv.Itoa(len(list)-most) + " more..."
}
