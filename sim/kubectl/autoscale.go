package kubectl

import (
	"cmp"
	"fmt"
	"strings"
)

// autoscale makes a HorizontalPodAutoscaler.
func (c *call) autoscale() error {
	least, most := c.number("min", -1), c.number("max", 0)
	if most < 1 {
		return fmt.Errorf("--max=MAXPODS is required and must be at least 1, max: %d", most)
	}
	if most < least {
		return fmt.Errorf("--max=MAXPODS must be larger or equal to --min=MINPODS, max: %d, min: %d", most, least)
	}
	t, err := c.one(c.args)
	if err != nil {
		return err
	}
	if !t.m.scalable {
		return fmt.Errorf("cannot autoscale a %s: the server could not find the requested resource", t.m.kind)
	}
	metrics, err := c.metrics()
	if err != nil {
		return err
	}
	obj := made("autoscaling/v2", "HorizontalPodAutoscaler", cmp.Or(c.text("name"), t.name))
	spec := map[string]any{"maxReplicas": most, "scaleTargetRef": map[string]any{"apiVersion": t.m.gv(), "kind": t.m.kind, "name": t.name}}
	if least > 0 {
		spec["minReplicas"] = least
	}
	if len(metrics) > 0 {
		spec["metrics"] = metrics
	}
	obj["spec"] = spec
	err = c.sendMade(obj, "", "autoscaled", "kubectl-autoscale")
	if err != nil && len(metrics) == 0 {
		return fmt.Errorf("failed to create autoscaling/v2 HPA and the configuration is incompatible with autoscaling/v1: empty input")
	}
	return err
}

// metrics are what --cpu and --memory ask for: 80%, or an amount.
func (c *call) metrics() (out []any, err error) {
	texts := map[string]string{"cpu": c.text("cpu"), "memory": c.text("memory")}
	if n := c.number("cpu-percent", 0); n > 0 {
		texts["cpu"] = fmt.Sprint(n, "%")
	}
	for _, name := range []string{"cpu", "memory"} {
		text := texts[name]
		if text == "" {
			continue
		}
		of := map[string]any{"type": "AverageValue", "averageValue": text}
		if percent, ok := strings.CutSuffix(text, "%"); ok {
			of = map[string]any{"type": "Utilization", "averageUtilization": intOrText(percent)}
		}
		out = append(out, map[string]any{"type": "Resource", "resource": map[string]any{"name": name, "target": of}})
	}
	return out, nil
}
