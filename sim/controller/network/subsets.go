package network

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// address is an address of Endpoints at a port, or an address without ports.
type address struct {
	object.Object // the EndpointAddress
	ready         bool
	at            *port
}

// subsets groups addresses into the subsets of Endpoints: addresses with the same ports and readiness are in the same subset
// (pkg/api/v1/endpoints.RepackSubsets). An address that occurs twice at a port is ready if both occurrences are.
//
//	1.1.1.1 at 80, 443 ─┬─▶ {addresses: [1.1.1.1, 1.1.1.2], ports: [80, 443]}
//	1.1.1.2 at 80, 443 ─┘
//	1.1.1.3 at 80       ──▶ {addresses: [1.1.1.3], ports: [80]}
func subsets(all []address) []subset {
	type place struct {
		number int64
		port   // zero for an address without ports
	}
	var order []place
	members := map[place]map[string]*address{} // addresses by IP and UID
	for i := range all {
		a := &all[i]
		at := place{}
		if a.at != nil {
			at = place{1, *a.at}
		}
		if members[at] == nil {
			order = append(order, at)
			members[at] = map[string]*address{}
		}
		key := a.String("ip") + "\x00" + a.String("targetRef", "uid")
		if before := members[at][key]; before == nil {
			members[at][key] = a
		} else if before.ready && !a.ready {
			members[at][key] = &address{before.Object, false, before.at}
		}
	}
	grouped := map[string]int{} // indexes in list, by the addresses
	var list []subset
	for _, at := range order {
		s := subset{}
		signature := ""
		for _, key := range object.SortedKeys(members[at]) {
			a := members[at][key]
			signature += fmt.Sprint(key, a.ready, "\x00")
			s.add(a)
		}
		n, known := grouped[signature]
		if !known {
			n = len(list)
			grouped[signature], list = n, append(list, s)
		}
		if at.number > 0 {
			list[n].ports = append(list[n].ports, at.port)
		}
	}
	for i := range list {
		list[i].sort()
	}
	slices.SortStableFunc(list, func(a, b subset) int { return strings.Compare(a.hash, b.hash) })
	return list
}

// subset is a subset of Endpoints.
type subset struct {
	ready, unready []object.Object
	ports          []port
	hash           string
}

func (s *subset) add(a *address) {
	if a.ready {
		s.ready = append(s.ready, a.Object)
	} else {
		s.unready = append(s.unready, a.Object)
	}
}

func (s *subset) sort() {
	byAddress := func(a, b object.Object) int {
		return cmp.Or(strings.Compare(a.String("ip"), b.String("ip")), strings.Compare(a.String("targetRef", "uid"), b.String("targetRef", "uid")))
	}
	slices.SortStableFunc(s.ready, byAddress)
	slices.SortStableFunc(s.unready, byAddress)
	slices.SortStableFunc(s.ports, func(a, b port) int {
		return strings.Compare(hashed("(v1.EndpointPort)"+a.endpointPort()), hashed("(v1.EndpointPort)"+b.endpointPort()))
	})
	s.hash = hashed(s.dump())
}

// dump returns the in-memory representation of the subset as a v1.EndpointSubset.
func (s *subset) dump() string {
	ports := "<nil>"
	if len(s.ports) > 0 {
		var texts []string
		for _, p := range s.ports {
			texts = append(texts, p.endpointPort())
		}
		ports = "[" + strings.Join(texts, " ") + "]"
	}
	return "(v1.EndpointSubset){Addresses:([]v1.EndpointAddress)" + dumpAddresses(s.ready) + " NotReadyAddresses:([]v1.EndpointAddress)" +
		dumpAddresses(s.unready) + " Ports:([]v1.EndpointPort)" + ports + "}"
}

func dumpAddresses(list []object.Object) string {
	if len(list) == 0 {
		return "<nil>"
	}
	var texts []string
	for _, a := range list {
		node, hasNode := a.Get("nodeName")
		text := fmt.Sprintf("{IP:(string)%s Hostname:(string)%s NodeName:(*string)%s TargetRef:(*v1.ObjectReference)", a.String("ip"),
			a.String("hostname"), pointer(node, hasNode))
		if ref := a.At("targetRef"); ref == nil {
			text += "<nil>}"
		} else {
			text += fmt.Sprintf("{Kind:(string)%s Namespace:(string)%s Name:(string)%s UID:(types.UID)%s APIVersion:(string)%s "+
				"ResourceVersion:(string)%s FieldPath:(string)%s}}", ref.String("kind"), ref.String("namespace"), ref.String("name"),
				ref.String("uid"), ref.String("apiVersion"), ref.String("resourceVersion"), ref.String("fieldPath"))
		}
		texts = append(texts, text)
	}
	return "[" + strings.Join(texts, " ") + "]"
}

// json returns the subset in its stored form.
func (s *subset) json() map[string]any {
	x := map[string]any{}
	for _, list := range []struct {
		name      string
		addresses []object.Object
	}{{"addresses", s.ready}, {"notReadyAddresses", s.unready}} {
		if len(list.addresses) > 0 {
			values := make([]any, len(list.addresses))
			for i, a := range list.addresses {
				values[i] = map[string]any(a)
			}
			x[list.name] = values
		}
	}
	if len(s.ports) > 0 {
		var ports []any
		for _, p := range s.ports {
			ports = append(ports, p.inEndpoints())
		}
		x["ports"] = ports
	}
	return x
}

// truncate reduces the subsets to the maximum number of addresses. It keeps ready addresses first, and a proportional share of
// each subset. It reports whether any addresses were removed (endpoint.truncateEndpoints).
func truncate(list []subset, most int) bool {
	ready, unready := 0, 0
	for _, s := range list {
		ready, unready = ready+len(s.ready), unready+len(s.unready)
	}
	if ready+unready <= most {
		return false
	}
	of, total := func(s *subset) *[]object.Object { return &s.unready }, unready
	room := most - ready
	if ready > most {
		of, total, room = func(s *subset) *[]object.Object { return &s.ready }, ready, most
	}
	left := room
	for i := range list {
		s := &list[i]
		kept := of(s)
		share := min(int(math.Ceil(float64(len(*kept))/float64(total)*float64(room))), left, len(*kept))
		*kept = (*kept)[:share]
		if left -= share; ready > most {
			s.unready = nil
		}
	}
	return true
}
