package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// SetReplica parses one option of a replica into o:
//
//	version=1.35                                   a minor version or a release
//	gates=NAME=true,NAME=false                     feature gates
//	serve=autoscaling/v1=false,batch/v1/cronjobs=false   API versions and resources to enable or disable
//	storage=RESOURCE=GROUP/VERSION                 the storage version of a resource
//	peers=true                                     forward requests for resources that this replica does not serve to another one
func SetReplica(o *sim.ReplicaOptions, text string) error {
	name, value, _ := strings.Cut(text, "=")
	if value == "" {
		name = ""
	}
	ok := true
	switch name {
	case "version":
		o.Version = value
	case "gates":
		o.FeatureGates, ok = switches(o.FeatureGates, value)
	case "serve":
		o.Serve, ok = switches(o.Serve, value)
	case "storage":
		resource, version, found := strings.Cut(value, "=")
		o.StorageVersions = cloned(o.StorageVersions)
		o.StorageVersions[resource], ok = version, found && version != ""
	case "peers":
		var err error
		o.PeerProxy, err = strconv.ParseBool(value)
		ok = err == nil
	default:
		return fmt.Errorf("a replica has version=1.35, gates=NAME=true,NAME=false, serve=GROUP/VERSION=false, "+
			"storage=RESOURCE=GROUP/VERSION and peers=true, not %q", text)
	}
	if !ok {
		return fmt.Errorf("%q cannot be read; write gates=NAME=true,NAME=false, serve=autoscaling/v1=false, "+
			"storage=RESOURCE=GROUP/VERSION or peers=true", text)
	}
	return nil
}

// switches parses A=true,B=false and returns a copy of the existing values with these added.
func switches(before map[string]bool, text string) (map[string]bool, bool) {
	out := cloned(before)
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		on, err := strconv.ParseBool(value)
		if err != nil || name == "" {
			return nil, false
		}
		out[name] = on
	}
	return out, true
}

// cloned returns a copy of a map. The copy is never nil.
func cloned[V any](before map[string]V) map[string]V {
	out := make(map[string]V, len(before))
	maps.Copy(out, before)
	return out
}

// optionsOf formats the options of a replica for SetReplica.
func optionsOf(o sim.ReplicaOptions) string {
	out := []string{"version=" + cmp.Or(strings.TrimPrefix(o.Version, "v"), schema.Default)}
	for _, list := range []struct {
		name     string
		switches map[string]bool
	}{{"gates", o.FeatureGates}, {"serve", o.Serve}} {
		var parts []string
		for _, name := range object.SortedKeys(list.switches) {
			parts = append(parts, fmt.Sprintf("%s=%v", name, list.switches[name]))
		}
		if parts != nil {
			out = append(out, list.name+"="+strings.Join(parts, ","))
		}
	}
	for _, resource := range object.SortedKeys(o.StorageVersions) {
		out = append(out, "storage="+resource+"="+o.StorageVersions[resource])
	}
	if o.PeerProxy {
		out = append(out, "peers=true")
	}
	return strings.Join(out, " ")
}
