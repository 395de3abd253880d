package builtin

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
)

// TestSpecChanged checks that the generation increases if and only if the real server's in-memory objects differ.
func TestSpecChanged(t *testing.T) {
	t.Parallel()
	kinds := served()
	for _, c := range []struct {
		name, storage, obj, old string
		want                    bool
	}{
		{"a zero that is printed is a missing one", "resourceslices.resource.k8s.io",
			`{'spec':{'pool':{'name':'p','generation':0}}}`, `{'spec':{'pool':{'name':'p'}}}`, false},
		{"but a pointer to it is not", "poddisruptionbudgets.policy", `{'spec':{'maxUnavailable':0}}`, `{'spec':{}}`, true},
		{"an empty struct behind a pointer is not nothing", "poddisruptionbudgets.policy", `{'spec':{'selector':{}}}`, `{'spec':{}}`, true},
		{"an empty map in it is", "poddisruptionbudgets.policy", `{'spec':{'selector':{'matchLabels':{}}}}`, `{'spec':{'selector':{}}}`, false},
		{"an empty list is nothing", "ingresses.networking.k8s.io", `{'spec':{'rules':[]}}`, `{'spec':{}}`, false},
		{"unless everything counts", "networkpolicies.networking.k8s.io", `{'spec':{'ingress':[]}}`, `{'spec':{}}`, true},
		{"as a sent null does not", "networkpolicies.networking.k8s.io", `{'spec':{'ingress':null}}`, `{'spec':{}}`, false},
		{"a struct that is no pointer is always there", "networkpolicies.networking.k8s.io", `{'spec':{'podSelector':{}}}`, `{'spec':{}}`, false},
		{"lists are compared item by item", "ingresses.networking.k8s.io", `{'spec':{'rules':[{'host':'a'}]}}`, `{'spec':{'rules':[{'host':'b'}]}}`, true},
		{"quantities by what they are worth", "resourceslices.resource.k8s.io",
			`{'spec':{'devices':[{'name':'d','capacity':{'m':{'value':'1000m'}}}]}}`, `{'spec':{'devices':[{'name':'d','capacity':{'m':{'value':'1'}}}]}}`, false},
		{"labels of slices of endpoints", "endpointslices.discovery.k8s.io", `{'metadata':{'labels':{'a':'b'}}}`, `{'metadata':{'labels':{'a':'c'}}}`, true},
	} {
		is := is.New(t)
		parse := func(text string) object.Object {
			obj, err := object.Parse([]byte(strings.ReplaceAll(text, "'", `"`)))
			is.NoErr(err)
			return obj
		}
		is.Equal(kinds[c.storage].Strategy.SpecChanged(parse(c.obj), parse(c.old)), c.want) // see c.name
	}
}
