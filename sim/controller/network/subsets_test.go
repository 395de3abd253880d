package network

import (
	"fmt"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
)

func at(n int, ready bool, ports ...int64) (all []address) {
	for _, p := range ports {
		all = append(all, address{object.Object{"ip": fmt.Sprint("10.0.0.", n)}, ready, &port{protocol: "TCP", number: p}})
	}
	return all
}

func texts(list []subset) (all map[string]bool) {
	all = map[string]bool{}
	for _, s := range list {
		text := ""
		for _, a := range s.ready {
			text += a.String("ip")[7:]
		}
		for _, a := range s.unready {
			text += " !" + a.String("ip")[7:]
		}
		n := int64(0)
		for _, p := range s.ports {
			n += p.number
		}
		all[fmt.Sprint(text, ":", n)] = true
	}
	return all
}

func TestSubsets(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var all []address
	for _, more := range [][]address{at(2, true, 80, 443), at(1, true, 80, 443), at(3, true, 80), at(4, false, 90), at(4, true, 90)} {
		all = append(all, more...)
	}
	is.Equal(texts(subsets(all)), map[string]bool{"123:80": true, "12:443": true, " !4:90": true})
	is.Equal(texts(subsets(all[:4])), map[string]bool{"12:523": true}) // one subset with both ports
	is.Equal(texts(subsets([]address{{Object: all[0].Object, ready: true}})), map[string]bool{"2:0": true})
}

// TestTruncate checks that each subset keeps its share, rounded up, and that unready addresses are removed first.
func TestTruncate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		ready, unready [2]int
		most           int
		want           string
	}{
		{[2]int{5, 5}, [2]int{0, 0}, 10, "5+0 5+0"},
		{[2]int{5, 2}, [2]int{2, 4}, 10, "5+1 2+2"},
		{[2]int{9, 6}, [2]int{3, 3}, 10, "6+0 4+0"},
		{[2]int{4, 6}, [2]int{3, 3}, 10, "4+0 6+0"},
	} {
		is := is.New(t)
		list := make([]subset, 2)
		for i := range list {
			list[i].ready, list[i].unready = make([]object.Object, test.ready[i]), make([]object.Object, test.unready[i])
		}
		total := test.ready[0] + test.ready[1] + test.unready[0] + test.unready[1]
		is.Equal(truncate(list, test.most), total > test.most)
		is.Equal(fmt.Sprintf("%d+%d %d+%d", len(list[0].ready), len(list[0].unready), len(list[1].ready), len(list[1].unready)), test.want)
	}
}

// TestPortOrder checks the representation of ports whose hash determines the order of ports in a real server.
func TestPortOrder(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	is.Equal(port{name: "http", protocol: "TCP", number: 80}.endpointPort(),
		"{Name:(string)http Port:(int32)80 Protocol:(v1.Protocol)TCP AppProtocol:(*string)<nil>}")
	is.Equal(port{name: "", protocol: "TCP", number: 80, app: "x", hasApp: true}.slicePort(),
		"(v1.EndpointPort){Name:(*string) Protocol:(*v1.Protocol)TCP Port:(*int32)80 AppProtocol:(*string)x}")
}
