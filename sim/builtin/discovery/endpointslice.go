// Package discovery defines the EndpointSlice.
package discovery

import (
	"cmp"
	"strconv"

	"github.com/kubesim/kubesim/sim/builtin/core"
	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// sameEndpoints compares endpoints in the way that the server compares them in memory: empty hints differ from missing ones.
func sameEndpoints(obj, old object.Object) bool {
	return gotext.SameList(gotext.Endpoint, obj["endpoints"], old["endpoints"])
}

// sliceOrLabelsChanged creates a Strategy.SpecChanged function that compares everything except metadata, and also the labels.
func sliceOrLabelsChanged(typ func() *schema.Type) func(obj, old object.Object) bool {
	changed := kind.Semantically.Of("addressType", "ports")(typ)
	return func(obj, old object.Object) bool {
		return changed(obj, old) || !sameEndpoints(obj, old) ||
			!object.SemanticEqual(obj.Map("metadata", "labels"), old.Map("metadata", "labels"))
	}
}

// The limits of one slice (KEP-752).
const (
	maxSliceEndpoints = 1000
	maxSliceAddresses = 100
	maxSlicePorts     = 20000
	maxSliceTopology  = 16
	maxSliceHints     = 8
)

// Kinds returns the kinds of discovery.k8s.io.
func Kinds() []kind.Kind {
	const slice = table.DocDiscovery + "EndpointSlice"
	return []kind.Kind{{
		Storage: "endpointslices.discovery.k8s.io",
		Changed: sliceOrLabelsChanged,
		Strategy: resource.Strategy{
			Checks:           resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckKind}},
			CountsAsked:      true,
			PrepareForCreate: func(_ *resource.Context, obj object.Object) { dropTopology(obj, nil) },
			PrepareForUpdate: func(_ *resource.Context, obj, old object.Object) { dropTopology(obj, old) },
			Warn:             warnSlice,
		},
		Validate: validateSlice,
		Defaults: kind.EveryVersion(func(obj object.Object) {
			for _, port := range obj.Objects("ports") {
				port.SetDefault("", "name")
				port.SetDefault("TCP", "protocol")
			}
		}),
		Columns: []table.Column{table.Name(), table.Doc("AddressType", slice, "addressType").At("addressType"),
			table.Doc("Ports", slice, "ports").Cell(cellSlicePorts), table.Doc("Endpoints", slice, "endpoints").Cell(cellSliceAddresses), table.Age()},
	}}
}

// dropTopology removes deprecatedTopology, which v1 clients can no longer write. If the stored slice contains the same node name
// there, dropTopology moves the name to nodeName.
func dropTopology(obj, old object.Object) {
	if old != nil && object.SemanticEqual(obj["endpoints"], old["endpoints"]) {
		return
	}
	const host = "kubernetes.io/hostname"
	known := map[string]bool{}
	for _, e := range old.Objects("endpoints") {
		known[e.String("deprecatedTopology", host)] = true
	}
	for _, e := range obj.Objects("endpoints") {
		node := e.String("deprecatedTopology", host)
		if node != "" && known[node] && !e.Has("nodeName") && len(field.DNS1123Subdomain(node)) == 0 {
			e["nodeName"] = node
		}
		delete(e, "deprecatedTopology")
	}
}

func validateSlice(ctx *resource.Context, at field.Cursor) {
	family := at.Child("addressType").OrEmpty()
	family.Declared(ctx.Since(37), func(c field.Cursor) field.Cursor { return c.Required().OneOf("FQDN", "IPv4", "IPv6") })
	validateSlicePorts(at.Child("ports"))
	if at.Old() == nil || !sameEndpoints(at.Object(), at.Old()) {
		for e := range at.Child("endpoints").MaxItems(maxSliceEndpoints).Each() {
			validateSliceEndpoint(ctx, e, family.String())
		}
	}
	family.Declared(ctx.Since(37), field.Cursor.Immutable)
}

func validateSlicePorts(at field.Cursor) {
	seen := field.Seen{}
	for port := range at.MaxItems(maxSlicePorts).Each() {
		name := port.Child("name")
		name.IfGiven().Check(field.DNS1123Label)
		name.Unique(seen)
		protocol := port.Child("protocol")
		protocol.RequireIf(!protocol.Has(), "").OneOf("SCTP", "TCP", "UDP")
		port.Child("appProtocol").Check(field.QualifiedName)
	}
}

func validateSliceEndpoint(ctx *resource.Context, at field.Cursor, family string) {
	addresses, topology := at.Child("addresses"), at.Child("deprecatedTopology")
	addresses.Declared(ctx.Since(37), func(c field.Cursor) field.Cursor {
		return c.Required("must contain at least 1 address").MaxItems(maxSliceAddresses)
	})
	for address := range addresses.Each() {
		validateSliceAddress(ctx, addresses, address, family)
	}
	at.Child("nodeName").Check(field.DNS1123Subdomain)
	topology.MaxItems(maxSliceTopology)
	topology.Labels()
	at.Child("hostname").Check(field.DNS1123Label)
	validateHints(at.Child("hints"))
}

func validateSliceAddress(ctx *resource.Context, list, at field.Cursor, family string) {
	address, before := at.String(), len(at.Errors())
	switch family {
	case "FQDN":
		at.Report(field.FullyQualifiedDomainName(at.Path(), address))
		return
	case "IPv6":
		at.Check(field.IP)
	case "IPv4":
		at.Check(kind.IP(ctx))
	default:
		return
	}
	if len(at.Errors()) == before {
		list.With(address).InvalidIf(core.FamilyOf(address) != family, "must be an "+family+" address")
		core.CheckEndpointIP(at)
	}
}

// validateHints checks the zones and nodes that an endpoint should serve.
func validateHints(at field.Cursor) {
	for _, list := range []struct {
		name string
		rule func(string) []string
	}{{"forZones", field.LabelValue}, {"forNodes", field.DNS1123Subdomain}} {
		entries, seen := at.Child(list.name).MaxItems(maxSliceHints), field.Seen{}
		if at.Len(list.name) > maxSliceHints {
			return
		}
		for entry := range entries.Each() {
			entry.Child("name").OrEmpty().Unique(seen).Check(list.rule)
		}
	}
}

func warnSlice(ctx *resource.Context, obj, old object.Object) {
	if old == nil && obj.String("addressType") == "FQDN" {
		ctx.Warn("spec.addressType: FQDN endpoints are deprecated")
	}
	manager := obj.Labels()["endpointslice.kubernetes.io/managed-by"]
	if manager == "endpointslice-controller.k8s.io" || manager == "endpointslicemirroring-controller.k8s.io" {
		return
	}
	for i, e := range obj.Objects("endpoints") {
		for j, address := range e.Strings("addresses") {
			kind.WarnIP(ctx, field.Root("endpoints").Index(i).Child("addresses").Index(j), address)
		}
	}
}

func cellSlicePorts(obj object.Object) any {
	var ports []string
	for _, port := range obj.Objects("ports") {
		text := "*"
		if number, ok := port.Int("port"); ok {
			text = strconv.FormatInt(number, 10)
		} else if port.Has("name") {
			text = port.String("name")
		}
		ports = append(ports, text)
	}
	return cmp.Or(table.FirstCell(ports, 3, ","), table.Unset)
}

func cellSliceAddresses(obj object.Object) any {
	var addresses []string
	for _, e := range obj.Objects("endpoints") {
		addresses = append(addresses, e.Strings("addresses")...)
	}
	return cmp.Or(table.FirstCell(addresses, 3, ","), table.Unset)
}
