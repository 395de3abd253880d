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
	app            any // appProtocol, where hasApp says so
	hasApp         bool
}

// inEndpoints is the port as Endpoints have it.
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

// inSlice is the port as an EndpointSlice has it.
func (p port) inSlice() map[string]any {
	x := p.inEndpoints()
	x["name"] = p.name
	return x
}

// Lists that come out of a Go map are sorted by hashes of what the values look like in memory: so are these, by the same
// (k8s.io/kubernetes/pkg/util/hash.DeepHashObject).

// hashed returns the hash of what a value looks like.
func hashed(text string) string {
	h := fnv.New128a()
	h.Write([]byte(text))
	return string(h.Sum(nil))
}

// pointer prints an optional string.
func pointer(v any, has bool) string {
	if !has {
		return "<nil>"
	}
	return fmt.Sprint(v)
}

// endpointPort prints a v1.EndpointPort without its type.
func (p port) endpointPort() string {
	return fmt.Sprintf("{Name:(string)%s Port:(int32)%d Protocol:(v1.Protocol)%s AppProtocol:(*string)%s}", p.name, p.number, p.protocol,
		pointer(p.app, p.hasApp))
}

// slicePort prints a discovery.EndpointPort.
func (p port) slicePort() string {
	return fmt.Sprintf("(v1.EndpointPort){Name:(*string)%s Protocol:(*v1.Protocol)%s Port:(*int32)%d AppProtocol:(*string)%s}", p.name,
		p.protocol, p.number, pointer(p.app, p.hasApp))
}

// sortSlicePorts sorts ports as EndpointSlices have them.
func sortSlicePorts(ports []port) {
	slices.SortFunc(ports, func(a, b port) int { return strings.Compare(hashed(a.slicePort()), hashed(b.slicePort())) })
}
