package generate

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/flags"
	"github.com/kubesim/kubesim/sim/object"
)

// Autoscaler returns a HorizontalPodAutoscaler of an object, with at least and at most so many replicas.
func Autoscaler(f *flags.Set, info *client.Info, least, most int64) object.Object {
	obj := made("autoscaling/v2", "HorizontalPodAutoscaler", cmp.Or(f.Text("name"), info.Name))
	spec := map[string]any{"maxReplicas": most,
		"scaleTargetRef": map[string]any{"apiVersion": info.Mapping.GroupVersion(), "kind": info.Mapping.Kind, "name": info.Name}}
	if least > 0 {
		spec["minReplicas"] = least
	}
	if metrics := metrics(f); len(metrics) > 0 {
		spec["metrics"] = metrics
	}
	obj["spec"] = spec
	return obj
}

// metrics returns the metrics of --cpu and --memory: 80%, or an amount.
func metrics(f *flags.Set) (out []any) {
	texts := map[string]string{"cpu": f.Text("cpu"), "memory": f.Text("memory")}
	if n := f.Number("cpu-percent", 0); n > 0 {
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
	return out
}
