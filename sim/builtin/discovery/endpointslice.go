// Package discovery has the EndpointSlice.
package discovery

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/core"
	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// goTypes are structs of discovery.k8s.io as the API server holds them in memory.
const goTypes = `
Endpoint: Addresses []s, Conditions EndpointConditions, Hostname *s, TargetRef *ObjectReference, DeprecatedTopology {}s, NodeName *s, Zone *s, Hints *EndpointHints
EndpointConditions: Ready *b, Serving *b, Terminating *b
EndpointHints: ForZones []ForZone, ForNodes []ForNode
ForZone: Name s
ForNode: Name s
`

func init() { gotext.Define(goTypes) }

// sameEndpoints compares endpoints as they are in memory: empty hints are not missing ones.
func sameEndpoints(obj, old object.Object) bool {
	return gotext.SameList("Endpoint", obj["endpoints"], old["endpoints"])
}

// sliceOrLabelsChanged counts everything but metadata, and of that the labels.
func sliceOrLabelsChanged(typ func() *schema.Type) func(obj, old object.Object) bool {
	changed := kind.Semantically.Of("addressType", "ports")(typ)
	return func(obj, old object.Object) bool {
		return changed(obj, old) || !sameEndpoints(obj, old) ||
			!object.SemanticEqual(obj.Map("metadata", "labels"), old.Map("metadata", "labels"))
	}
}

// What one slice may hold (KEP-752).
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
			Validate: func(ctx *resource.Context, obj object.Object) field.ErrorList {
				return validateSlice(ctx, obj, nil)
			},
			ValidateUpdate: func(ctx *resource.Context, obj, old object.Object) field.ErrorList {
				errs := validateSlice(ctx, obj, old)
				return append(errs, kind.Immutable(field.Root("addressType"), obj.String("addressType"), old.String("addressType"))...)
			},
			Warn: warnSlice,
		},
		Defaults: kind.EveryVersion(func(obj object.Object) {
			for _, port := range obj.Objects("ports") {
				port.SetDefault("", "name")
				port.SetDefault("TCP", "protocol")
			}
		}),
		Columns: []table.Column{table.Name(), table.Doc("AddressType", slice, "addressType"), table.Doc("Ports", slice, "ports"),
			table.Doc("Endpoints", slice, "endpoints"), table.Age()},
		Row: sliceRow,
	}}
}

// dropTopology ignores what cannot be written in v1 any more; the name of the node in it is kept.
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

func validateSlice(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	errs := field.MustBeSetToOneOf(field.Root("addressType"), obj.String("addressType"), "FQDN", "IPv4", "IPv6")
	errs = append(errs, validateSlicePorts(obj.Objects("ports"))...)
	if old != nil && sameEndpoints(obj, old) {
		return errs
	}
	p, endpoints := field.Root("endpoints"), obj.Objects("endpoints")
	if len(endpoints) > maxSliceEndpoints {
		return append(errs, field.TooMany(p, len(endpoints), maxSliceEndpoints))
	}
	for i, e := range endpoints {
		errs = append(errs, validateSliceEndpoint(ctx, p.Index(i), e, obj.String("addressType"))...)
	}
	return errs
}

func validateSlicePorts(ports []object.Object) field.ErrorList {
	p := field.Root("ports")
	if len(ports) > maxSlicePorts {
		return field.ErrorList{field.TooMany(p, len(ports), maxSlicePorts)}
	}
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, port := range ports {
		at, name := p.Index(i), port.String("name")
		if name != "" {
			errs = append(errs, field.Check(at.Child("name"), name, field.DNS1123Label)...)
		}
		if seen[name] {
			errs = append(errs, field.Duplicate(at.Child("name"), name))
		}
		seen[name] = true
		if !port.Has("protocol") {
			errs = append(errs, field.Required(at.Child("protocol"), ""))
		} else {
			errs = append(errs, field.MustBeOneOf(at.Child("protocol"), port.String("protocol"), "SCTP", "TCP", "UDP")...)
		}
		if port.Has("appProtocol") {
			errs = append(errs, field.Check(at.Child("appProtocol"), port.String("appProtocol"), field.QualifiedName)...)
		}
	}
	return errs
}

func validateSliceEndpoint(ctx *resource.Context, p field.Path, e object.Object, family string) field.ErrorList {
	var errs field.ErrorList
	addresses := e.Strings("addresses")
	if len(addresses) == 0 {
		errs = append(errs, field.Required(p.Child("addresses"), "must contain at least 1 address"))
	} else if len(addresses) > maxSliceAddresses {
		errs = append(errs, field.TooMany(p.Child("addresses"), len(addresses), maxSliceAddresses))
	}
	for i, address := range addresses {
		errs = append(errs, validateSliceAddress(ctx, p.Child("addresses"), i, address, family)...)
	}
	if e.Has("nodeName") {
		errs = append(errs, field.Check(p.Child("nodeName"), e.String("nodeName"), field.DNS1123Subdomain)...)
	}
	topology := object.StringMap(e.Map("deprecatedTopology"))
	if len(topology) > maxSliceTopology {
		errs = append(errs, field.TooMany(p.Child("deprecatedTopology"), len(topology), maxSliceTopology))
	}
	errs = append(errs, field.CheckLabels(p.Child("deprecatedTopology"), topology)...)
	if e.Has("hostname") {
		errs = append(errs, field.Check(p.Child("hostname"), e.String("hostname"), field.DNS1123Label)...)
	}
	return append(errs, validateHints(p.Child("hints"), e.At("hints"))...)
}

func validateSliceAddress(ctx *resource.Context, p field.Path, i int, address, family string) field.ErrorList {
	var errs field.ErrorList
	switch family {
	case "FQDN":
		return field.FullyQualifiedDomainName(p.Index(i), address)
	case "IPv6":
		errs = field.Check(p.Index(i), address, field.IP)
	case "IPv4":
		errs = kind.ValidateIP(ctx, p.Index(i), address)
	default:
		return nil
	}
	if len(errs) > 0 {
		return errs
	}
	if core.FamilyOf(address) != family {
		errs = append(errs, field.Invalid(p, address, "must be an "+family+" address"))
	}
	return append(errs, core.ValidateEndpointIP(p.Index(i), address)...)
}

// validateHints checks for which zones and nodes an endpoint is meant.
func validateHints(p field.Path, hints object.Object) field.ErrorList {
	var errs field.ErrorList
	for _, list := range []struct {
		name string
		rule func(string) []string
	}{{"forZones", field.LabelValue}, {"forNodes", field.DNS1123Subdomain}} {
		at, entries := p.Child(list.name), hints.Objects(list.name)
		if len(entries) > maxSliceHints {
			return append(errs, field.TooMany(at, len(entries), maxSliceHints))
		}
		var seen []string
		for i, entry := range entries {
			name := entry.String("name")
			if slices.Contains(seen, name) {
				errs = append(errs, field.Duplicate(at.Index(i).Child("name"), name))
			}
			seen = append(seen, name)
			errs = append(errs, field.Check(at.Index(i).Child("name"), name, list.rule)...)
		}
	}
	return errs
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

func sliceRow(now time.Time, obj object.Object) resource.Row {
	var ports, addresses []string
	for _, port := range obj.Objects("ports") {
		text := "*"
		if number, ok := port.Int("port"); ok {
			text = strconv.FormatInt(number, 10)
		} else if port.Has("name") {
			text = port.String("name")
		}
		ports = append(ports, text)
	}
	for _, e := range obj.Objects("endpoints") {
		addresses = append(addresses, e.Strings("addresses")...)
	}
	return table.Row(obj.Name(), obj.String("addressType"), firstThree(ports), firstThree(addresses), table.AgeCell(now, obj))
}

// firstThree joins the first three texts and says how many more there are.
func firstThree(list []string) string {
	const most = 3
	if len(list) <= most {
		return table.OrNone(strings.Join(list, ","), table.Unset)
	}
	return strings.Join(list[:most], ",") + " + " + strconv.Itoa(len(list)-most) + " more..."
}
