package generate

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/flags"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

func quota(in *Input) (object.Object, error) {
	obj := made("v1", "ResourceQuota", in.Name)
	hard, err := Amounts(in.Text("hard"))
	if err != nil {
		return nil, err
	}
	obj["spec"] = map[string]any{"hard": hard}
	if len(hard) == 0 {
		obj["spec"] = map[string]any{}
	}
	if scopes := in.Text("scopes"); scopes != "" {
		obj.Set(object.FromStrings(strings.Split(scopes, ",")), "spec", "scopes")
	}
	return obj, nil
}

// Amounts parses a list of resources such as cpu=1,memory=1Gi.
func Amounts(text string) (map[string]any, error) {
	out := map[string]any{}
	if text == "" {
		return out, nil
	}
	for _, pair := range strings.Split(text, ",") {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || strings.Contains(value, "=") {
			return nil, fmt.Errorf("Invalid argument syntax %v, expected <resource>=<value>", pair)
		}
		if _, err := quantity.Parse(value); err != nil {
			return nil, err
		}
		out[name] = value
	}
	return out, nil
}

func disruptionBudget(in *Input) (object.Object, error) {
	least, most := in.Text("min-available"), in.Text("max-unavailable")
	switch {
	case in.Text("selector") == "":
		return nil, fmt.Errorf("a selector must be specified")
	case least == "" && most == "":
		return nil, fmt.Errorf("one of min-available or max-unavailable must be specified")
	case least != "" && most != "":
		return nil, fmt.Errorf("min-available and max-unavailable cannot be both specified")
	}
	for _, name := range []string{"min-available", "max-unavailable"} {
		digits := strings.TrimSuffix(in.Text(name), "%")
		if in.Given(name) && (digits == "" || strings.Trim(digits, "0123456789") != "") {
			return nil, fmt.Errorf("invalid format specified for %s", name)
		}
	}
	labels, err := Labels(in.Text("selector"))
	if err != nil {
		return nil, err
	}
	obj := made("policy/v1", "PodDisruptionBudget", in.Name)
	obj["spec"] = map[string]any{"selector": map[string]any{"matchLabels": labels}}
	if least != "" {
		obj.Set(intOrText(least), "spec", "minAvailable")
	} else {
		obj.Set(intOrText(most), "spec", "maxUnavailable")
	}
	return obj, nil
}

func priorityClass(in *Input) (object.Object, error) {
	obj := made("scheduling.k8s.io/v1", "PriorityClass", in.Name)
	obj["value"], obj["preemptionPolicy"] = in.Number("value", 0), "PreemptLowerPriority"
	fill(obj, in.Set, "preemption-policy", "preemptionPolicy", "description", "description")
	if in.On("global-default") {
		obj["globalDefault"] = true
	}
	return obj, nil
}

// Autoscaler returns a HorizontalPodAutoscaler for an object. If name is "", it has the name of the object.
func Autoscaler(name string, info *client.Info, least, most int64, metrics []any) object.Object {
	obj := made("autoscaling/v2", "HorizontalPodAutoscaler", cmp.Or(name, info.Name))
	spec := map[string]any{"maxReplicas": most,
		"scaleTargetRef": map[string]any{"apiVersion": info.Mapping.GroupVersion(), "kind": info.Mapping.Kind, "name": info.Name}}
	if least > 0 {
		spec["minReplicas"] = least
	}
	if len(metrics) > 0 {
		spec["metrics"] = metrics
	}
	obj["spec"] = spec
	return obj
}

// Metrics returns the metrics of --cpu and --memory, whose values are percentages or amounts. The unit of a number without a unit is
// m for --cpu and Mi for --memory. Metrics returns an error for an invalid amount.
func Metrics(f *flags.Set) (out []any, err error) {
	texts := map[string]string{"cpu": f.Text("cpu"), "memory": f.Text("memory")}
	if n := f.Number("cpu-percent", 0); n > 0 {
		texts["cpu"] = fmt.Sprint(n, "%")
	}
	for _, name := range []string{"cpu", "memory"} {
		text := texts[name]
		if text == "" {
			continue
		}
		if strings.Trim(text, "0123456789") == "" {
			text += map[string]string{"cpu": "m", "memory": "Mi"}[name]
		}
		of := map[string]any{"type": "AverageValue", "averageValue": text}
		if percent, ok := strings.CutSuffix(text, "%"); ok {
			of = map[string]any{"type": "Utilization", "averageUtilization": intOrText(percent)}
		} else if _, err := quantity.Parse(text); err != nil {
			return nil, fmt.Errorf("invalid resource %s value: %s", name, text)
		}
		out = append(out, map[string]any{"type": "Resource", "resource": map[string]any{"name": name, "target": of}})
	}
	return out, nil
}
