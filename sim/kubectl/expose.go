package kubectl

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// exposable are the kinds that expose makes a Service for, and where their selectors are.
var exposable = map[string][]string{"Service": {"spec", "selector"}, "ReplicationController": {"spec", "selector"},
	"Pod": {"metadata", "labels"}, "Deployment": {"spec", "selector", "matchLabels"}, "ReplicaSet": {"spec", "selector", "matchLabels"}}

// expose makes a Service for the pods of an object.
func (c *call) expose() error {
	if err := c.checkDryRun(); err != nil {
		return err
	}
	list, err := c.targets(c.args, selection{})
	if err != nil {
		return err
	}
	found, errs := c.objects(list)
	for _, t := range found {
		obj, err := c.exposing(t)
		if err == nil {
			err = c.sendMade(obj, "", "exposed", "kubectl-expose")
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return together(errs)
}

// exposing returns the Service for an object.
func (c *call) exposing(t *target) (object.Object, error) {
	path, ok := exposable[t.m.kind]
	if !ok {
		return nil, fmt.Errorf("cannot expose a %s", t.m.kind)
	}
	chosen := any(t.obj.Map(path...))
	if s := c.text("selector"); s != "" {
		labels, err := labelsOf(s)
		if err != nil {
			return nil, err
		}
		chosen = labels
	} else if len(t.obj.Map(path...)) == 0 {
		return nil, fmt.Errorf("couldn't retrieve selectors via --selector flag or introspection: the %s has no labels and cannot be exposed", strings.ToLower(t.m.kind))
	}
	ports, err := c.exposedPorts(t.obj)
	if err != nil {
		return nil, err
	}
	obj := made("v1", "Service", cmp.Or(c.text("name"), t.name))
	if labels := t.obj.Map("metadata", "labels"); len(labels) > 0 {
		obj.SetMeta("labels", object.Copy(labels))
	}
	if text := c.text("labels"); text != "" {
		labels, err := labelsOf(text)
		if err != nil {
			return nil, err
		}
		obj.SetMeta("labels", labels)
	}
	spec := object.Object{"selector": object.Copy(chosen), "ports": ports}
	for _, f := range [][2]string{{"type", "type"}, {"session-affinity", "sessionAffinity"}, {"cluster-ip", "clusterIP"}} {
		if v := c.text(f[0]); v != "" {
			spec[f[1]] = v
		}
	}
	if ip := c.text("external-ip"); ip != "" {
		spec["externalIPs"] = []any{ip}
	}
	obj["spec"] = map[string]any(spec)
	return obj, nil
}

// exposedPorts are those of --port, or those that the object has.
func (c *call) exposedPorts(obj object.Object) (out []any, err error) {
	protocol := cmp.Or(c.text("protocol"), "TCP")
	var numbers []string
	if text := c.text("port"); text != "" {
		numbers = strings.Split(text, ",")
	} else {
		for _, one := range podSpecOf(obj).Objects("containers") {
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
		if target := c.text("target-port"); target != "" {
			port["targetPort"] = intOrText(target)
		}
		out = append(out, port)
	}
	return out, nil
}
