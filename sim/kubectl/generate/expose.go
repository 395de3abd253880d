package generate

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/flags"
	"github.com/kubesim/kubesim/sim/object"
)

// exposable are the kinds that can be exposed, and where their selectors are.
var exposable = map[string][]string{"Service": {"spec", "selector"}, "ReplicationController": {"spec", "selector"},
	"Pod": {"metadata", "labels"}, "Deployment": {"spec", "selector", "matchLabels"}, "ReplicaSet": {"spec", "selector", "matchLabels"}}

// Expose returns a Service for the pods of an object.
func Expose(f *flags.Set, info *client.Info) (object.Object, error) {
	path, ok := exposable[info.Mapping.Kind]
	if !ok {
		return nil, fmt.Errorf("cannot expose a %s", info.Mapping.Kind)
	}
	chosen := any(info.Object.Map(path...))
	if s := f.Text("selector"); s != "" {
		labels, err := Labels(s)
		if err != nil {
			return nil, err
		}
		chosen = labels
	} else if len(info.Object.Map(path...)) == 0 {
		return nil, fmt.Errorf("couldn't retrieve selectors via --selector flag or introspection: the %s has no labels and cannot be exposed", strings.ToLower(info.Mapping.Kind))
	}
	ports, err := exposedPorts(f, info.Object)
	if err != nil {
		return nil, err
	}
	obj := made("v1", "Service", cmp.Or(f.Text("name"), info.Name))
	if labels := info.Object.Map("metadata", "labels"); len(labels) > 0 {
		obj.SetMeta("labels", object.Copy(labels))
	}
	if text := f.Text("labels"); text != "" {
		labels, err := Labels(text)
		if err != nil {
			return nil, err
		}
		obj.SetMeta("labels", labels)
	}
	spec := map[string]any{"selector": object.Copy(chosen), "ports": ports}
	fill(spec, f, "type", "type", "session-affinity", "sessionAffinity", "cluster-ip", "clusterIP")
	if ip := f.Text("external-ip"); ip != "" {
		spec["externalIPs"] = []any{ip}
	}
	obj["spec"] = spec
	return obj, nil
}

// exposedPorts returns the ports of --port, or else those of the object.
func exposedPorts(f *flags.Set, obj object.Object) (out []any, err error) {
	protocol := cmp.Or(f.Text("protocol"), "TCP")
	var numbers []string
	if text := f.Text("port"); text != "" {
		numbers = strings.Split(text, ",")
	} else {
		for _, one := range client.PodSpec(obj).Objects("containers") {
			for _, p := range one.Objects("ports") {
				numbers = append(numbers, fmt.Sprint(p.Int64("containerPort")))
			}
		}
		for _, p := range obj.Objects("spec", "ports") {
			numbers = append(numbers, fmt.Sprint(p.Int64("port")))
		}
	}
	if len(numbers) == 0 {
		return nil, fmt.Errorf("couldn't find port via --port flag or introspection")
	}
	for i, text := range numbers {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return nil, err
		}
		port := map[string]any{"port": n, "protocol": protocol, "targetPort": n}
		if len(numbers) > 1 {
			port["name"] = fmt.Sprintf("port-%d", i+1)
		}
		if target := f.Text("target-port"); target != "" {
			port["targetPort"] = intOrText(target)
		}
		out = append(out, port)
	}
	return out, nil
}
