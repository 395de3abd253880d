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

// service returns the generator for Services of a type.
func service(kind string) func(in *Input) (object.Object, error) {
	return func(in *Input) (object.Object, error) { return in.service(kind) }
}

// service returns a Service of the given type.
func (in *Input) service(kind string) (object.Object, error) {
	spec := map[string]any{"type": kind, "selector": map[string]any{"app": in.Name}}
	var ports []any
	for _, text := range in.List("tcp") {
		port, err := tcpPort(text)
		if err != nil {
			return nil, err
		}
		if n := in.Number("node-port", 0); n > 0 {
			port["nodePort"] = n
		}
		ports = append(ports, port)
	}
	if len(ports) > 0 {
		spec["ports"] = ports
	} else if kind != "ExternalName" && in.Text("clusterip") != "None" {
		return nil, fmt.Errorf("at least one tcp port specifier must be provided")
	}
	fill(spec, in.Set, "clusterip", "clusterIP", "external-name", "externalName")
	obj := made("v1", "Service", in.Name)
	obj.SetMeta("labels", map[string]any{"app": in.Name})
	obj["spec"] = spec
	return obj, nil
}

// tcpPort parses PORT or PORT:TARGET and returns a port of a Service. It returns an error unless PORT is from 0 to
// 65535.
func tcpPort(text string) (map[string]any, error) {
	first, second, both := strings.Cut(text, ":")
	port, err := strconv.ParseInt(first, 10, 32)
	if err != nil || port < 0 || port > 65535 {
		return nil, fmt.Errorf("%q must be a valid port number", first)
	}
	out := map[string]any{"name": strings.ReplaceAll(text, ":", "-"), "port": port, "protocol": "TCP", "targetPort": port}
	if both {
		out["targetPort"] = intOrText(second)
	}
	return out, nil
}

func ingress(in *Input) (object.Object, error) {
	fallback := in.Text("default-backend")
	if len(in.List("rule")) == 0 && fallback == "" {
		return nil, fmt.Errorf("not enough information provided: every ingress has to either specify a default-backend (which catches all traffic) " +
			"or a list of rules (which catch specific paths)")
	}
	spec := map[string]any{}
	fill(spec, in.Set, "class", "ingressClassName")
	if fallback != "" {
		if strings.Count(fallback, ":") != 1 {
			return nil, fmt.Errorf("default-backend should be in format servicename:serviceport")
		}
		spec["defaultBackend"] = backend(fallback)
	}
	if err := ingressRules(spec, in.List("rule")); err != nil {
		return nil, err
	}
	obj := made("networking.k8s.io/v1", "Ingress", in.Name)
	annotations := map[string]any{}
	for _, a := range in.List("annotation") {
		k, v, ok := strings.Cut(a, "=")
		if !ok {
			return nil, fmt.Errorf("annotation %s is invalid and should be in format key=[value]", a)
		}
		annotations[k] = v
	}
	if len(annotations) > 0 {
		obj.SetMeta("annotations", annotations)
	}
	obj["spec"] = spec
	return obj, nil
}

// backend parses SERVICE:PORT and returns a backend of an Ingress. PORT is a number or a name.
func backend(text string) map[string]any {
	name, port, _ := strings.Cut(text, ":")
	kind := "name"
	if _, err := strconv.Atoi(port); err == nil {
		kind = "number"
	}
	return map[string]any{"service": map[string]any{"name": name, "port": map[string]any{kind: intOrText(port)}}}
}

// ingressRules parses rules of the form HOST/PATH=SERVICE:PORT[,tls[=SECRET]] and adds them to spec.
func ingressRules(spec map[string]any, rules []string) error {
	byHost := map[string][]any{}
	var hosts []string
	var secured []any
	for _, text := range rules {
		rule, tls, hasTLS := strings.Cut(text, ",")
		where, to, ok := strings.Cut(rule, "=")
		if !ok || !strings.Contains(to, ":") || !strings.Contains(where, "/") || hasTLS && !strings.HasPrefix(tls, "tls") {
			return fmt.Errorf("rule %s is invalid and should be in format host/path=svcname:svcport[,tls[=secret]]", text)
		}
		host, path, _ := strings.Cut(where, "/")
		path, kind := "/"+path, "Exact"
		if strings.HasSuffix(path, "*") {
			path, kind = strings.TrimSuffix(path, "*"), "Prefix"
		}
		if _, known := byHost[host]; !known {
			hosts = append(hosts, host)
		}
		byHost[host] = append(byHost[host], map[string]any{"path": path, "pathType": kind, "backend": backend(to)})
		if hasTLS {
			one := map[string]any{}
			if host != "" {
				one["hosts"] = []any{host}
			}
			if _, secret, ok := strings.Cut(tls, "="); ok {
				one["secretName"] = secret
			}
			secured = append(secured, one)
		}
	}
	var out []any
	for _, host := range hosts {
		one := object.Object{"http": map[string]any{"paths": byHost[host]}}
		if host != "" {
			one["host"] = host
		}
		out = append(out, map[string]any(one))
	}
	if len(out) > 0 {
		spec["rules"] = out
	}
	if len(secured) > 0 {
		spec["tls"] = secured
	}
	return nil
}

// exposable maps the kinds that can be exposed to the paths of their selectors.
var exposable = map[string][]string{"Service": {"spec", "selector"}, "ReplicationController": {"spec", "selector"},
	"Pod": {"metadata", "labels"}, "Deployment": {"spec", "selector", "matchLabels"}, "ReplicaSet": {"spec", "selector", "matchLabels"}}

// Expose returns a Service for the pods that an object selects. It returns kubectl's error if objects of that kind
// cannot be exposed, or if the selector or the ports are unknown.
func Expose(f *flags.Set, info *client.Info) (object.Object, error) {
	path, ok := exposable[info.Mapping.Kind]
	if !ok {
		return nil, fmt.Errorf("cannot expose a %s", client.JoinGroup(info.Mapping.Kind, info.Mapping.Group))
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

// exposedPorts returns the ports of --port, or the object's ports if --port is not given.
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
