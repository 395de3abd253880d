package network

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// port is a port of endpoints. Ports are compared by value.
type port struct {
	name, protocol string
	number         int64
	app            any // the value of appProtocol if hasApp is set
	hasApp         bool
}

// inEndpoints returns the port in the format of Endpoints.
func (p port) inEndpoints() map[string]any {
	x := map[string]any{"port": p.number, "protocol": p.protocol}
	if p.name != "" {
		x["name"] = p.name
	}
	if p.hasApp {
		x["appProtocol"] = p.app
	}
	return x
}

// inSlice returns the port in the format of an EndpointSlice.
func (p port) inSlice() map[string]any {
	x := p.inEndpoints()
	x["name"] = p.name
	return x
}

// The real controllers sort lists that come from a Go map by hashes of the values' in-memory representation. The functions below
// compute the same hashes to get the same order (k8s.io/kubernetes/pkg/util/hash.DeepHashObject).

// hashed returns the hash of a value, given the value's representation.
func hashed(text string) string {
	h := fnv.New128a()
	h.Write([]byte(text))
	return string(h.Sum(nil))
}

// pointer returns the representation of an optional string.
func pointer(v any, has bool) string {
	if !has {
		return "<nil>"
	}
	return fmt.Sprint(v)
}

// endpointPort returns the representation of a v1.EndpointPort without its type.
func (p port) endpointPort() string {
	return fmt.Sprintf("{Name:(string)%s Port:(int32)%d Protocol:(v1.Protocol)%s AppProtocol:(*string)%s}", p.name, p.number, p.protocol,
		pointer(p.app, p.hasApp))
}

// slicePort returns the representation of a discovery.EndpointPort.
func (p port) slicePort() string {
	return fmt.Sprintf("(v1.EndpointPort){Name:(*string)%s Protocol:(*v1.Protocol)%s Port:(*int32)%d AppProtocol:(*string)%s}", p.name,
		p.protocol, p.number, pointer(p.app, p.hasApp))
}

// sortSlicePorts sorts ports in the order of EndpointSlices.
func sortSlicePorts(ports []port) {
	slices.SortStableFunc(ports, func(a, b port) int { return strings.Compare(hashed(a.slicePort()), hashed(b.slicePort())) })
}
