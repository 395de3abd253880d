package describe

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/printer"
	"github.com/kubesim/kubesim/sim/object"
)

// endpoints returns the ready addresses of a Service's port, from the Service's EndpointSlices.
func (d *describer) endpoints(namespace, service, port string) string {
	slices := d.list("endpointslices.discovery.k8s.io", namespace, "labelSelector", "kubernetes.io/service-name="+service)
	if len(slices) == 0 {
		return "<none>"
	}
	var out []string
	for _, slice := range slices {
		for _, p := range slice.Objects("ports") {
			if p.String("name") != port {
				continue
			}
			for _, e := range slice.Objects("endpoints") {
				if ready, ok := e.Bool("conditions", "ready"); ok && !ready {
					continue
				}
				for _, a := range e.Strings("addresses") {
					out = append(out, fmt.Sprintf("%s:%d", a, p.Int64("port")))
				}
			}
		}
	}
	const most = 3
	if len(out) > most {
		return strings.Join(out[:most], ",") + fmt.Sprintf(" + %d more...", len(out)-most)
	}
	return strings.Join(out, ",")
}

func (d *describer) service(obj object.Object) {
	spec := obj.At("spec")
	d.head(obj)
	d.line(0, "Selector:\t%s\nType:\t%s", printer.Pairs(object.StringMap(spec.Map("selector")), "=", ","), spec.String("type"))
	d.given(0, "IP Family Policy", spec.String("ipFamilyPolicy"))
	d.given(0, "IP Families", strings.Join(spec.Strings("ipFamilies"), ","))
	d.line(0, "IP:\t%s\nIPs:\t%s", spec.String("clusterIP"), cmp.Or(strings.Join(spec.Strings("clusterIPs"), ","), "<none>"))
	for _, f := range [][2]string{{"External IPs", "externalIPs"}, {"LoadBalancer Source Ranges", "loadBalancerSourceRanges"}} {
		if list := spec.Strings(f[1]); len(list) > 0 {
			d.line(0, "%s:\t%s", f[0], strings.Join(list, ","))
		}
	}
	d.given(0, "Desired LoadBalancer IP", spec.String("loadBalancerIP"))
	d.given(0, "External Name", spec.String("externalName"))
	for _, p := range spec.Objects("ports") {
		protocol := p.String("protocol")
		d.line(0, "Port:\t%s\t%d/%s", cmp.Or(p.String("name"), "<unset>"), p.Int64("port"), protocol)
		d.line(0, "TargetPort:\t%s/%s", valueOr(p, "0", "targetPort"), protocol)
		if n := p.Int64("nodePort"); n > 0 {
			d.line(0, "NodePort:\t%s\t%d/%s", cmp.Or(p.String("name"), "<unset>"), n, protocol)
		}
		d.line(0, "Endpoints:\t%s", d.endpoints(obj.Namespace(), obj.Name(), p.String("name")))
	}
	d.line(0, "Session Affinity:\t%s", spec.String("sessionAffinity"))
	for _, f := range []string{"externalTrafficPolicy", "internalTrafficPolicy", "trafficDistribution"} {
		d.given(0, title(f), spec.String(f))
	}
}

// backendText returns the description of an ingress backend, with its endpoints.
func (d *describer) backendText(namespace string, b object.Object) string {
	if r := b.At("resource"); r != nil {
		return fmt.Sprintf("APIGroup: %s, Kind: %s, Name: %s", r.String("apiGroup"), r.String("kind"), r.String("name"))
	}
	s := b.At("service")
	port := cmp.Or(s.String("port", "name"), valueOr(s, "", "port", "number"))
	name := s.String("name")
	if d.err != nil {
		return ""
	}
	var found object.Object
	services, err := d.Find("services")
	if err == nil {
		found, err = d.Get(services.Path(namespace, name), nil)
	}
	if client.IsNotFound(err) {
		return fmt.Sprintf("%s:%s (<error: services %q not found>)", name, port, name)
	}
	d.err = err
	portName := ""
	for _, p := range found.Objects("spec", "ports") {
		if p.String("name") == port || fmt.Sprint(p.Int64("port")) == port {
			portName = p.String("name")
		}
	}
	return fmt.Sprintf("%s:%s (%s)", name, port, d.endpoints(namespace, name, portName))
}

func (d *describer) ingress(obj object.Object) {
	spec := obj.At("spec")
	d.line(0, "Name:\t%s", obj.Name())
	d.labels(0, "Labels", obj.Labels())
	var addresses []string
	for _, lb := range obj.Objects("status", "loadBalancer", "ingress") {
		addresses = append(addresses, cmp.Or(lb.String("ip"), lb.String("hostname")))
	}
	d.line(0, "Namespace:\t%s\nAddress:\t%s\nIngress Class:\t%s", obj.Namespace(), strings.Join(addresses, ","), valueOr(spec, "<none>", "ingressClassName"))
	fallback := "<default>"
	if b := spec.At("defaultBackend"); b != nil {
		fallback = d.backendText(obj.Namespace(), b)
	}
	d.line(0, "Default backend:\t%s", fallback)
	if tls := spec.Objects("tls"); len(tls) > 0 {
		d.line(0, "TLS:")
		for _, t := range tls {
			d.line(1, "%s terminates %s", cmp.Or(t.String("secretName"), "SNI routes"), strings.Join(t.Strings("hosts"), ","))
		}
	}
	d.line(0, "Rules:\n  Host\tPath\tBackends\n  ----\t----\t--------")
	for _, rule := range spec.Objects("rules") {
		d.line(1, "%s\t", cmp.Or(rule.String("host"), "*"))
		for _, p := range rule.Objects("http", "paths") {
			d.line(1, "  \t%s \t%s", p.String("path"), d.backendText(obj.Namespace(), p.At("backend")))
		}
	}
	if len(spec.Objects("rules")) == 0 {
		d.line(1, "%s\t%s\t%s", "*", "*", fallback)
	}
	d.annotations(0, obj.Annotations())
}

func (d *describer) networkPolicy(obj object.Object) {
	spec := obj.At("spec")
	made, _ := time.Parse(time.RFC3339, obj.String("metadata", "creationTimestamp"))
	d.line(0, "Name:\t%s\nNamespace:\t%s\nCreated on:\t%s", obj.Name(), obj.Namespace(), made.UTC())
	d.metadata(obj)
	chosen := client.LabelSelector(spec.Map("podSelector"))
	if chosen == "" {
		chosen = "<none> (Allowing the specific traffic to all pods in this namespace)"
	}
	d.line(0, "Spec:\n  PodSelector:     %s", chosen)
	types := spec.Strings("policyTypes")
	has := func(name string) bool { return strings.Contains(strings.Join(types, ","), name) }
	for _, x := range []struct{ name, field, peers, label string }{{"Ingress", "ingress", "from", "From"}, {"Egress", "egress", "to", "To"}} {
		lower := strings.ToLower(x.name)
		if !has(x.name) {
			d.line(1, "Not affecting %s traffic", lower)
			continue
		}
		d.line(1, "Allowing %s traffic:", lower)
		rules := spec.Objects(x.field)
		if len(rules) == 0 {
			d.line(2, "<none> (Selected pods are isolated for %s connectivity)", lower)
		}
		for i, rule := range rules {
			if i > 0 {
				d.line(2, "----------")
			}
			d.policyRule(rule, x.peers, x.label)
		}
	}
	d.line(1, "Policy Types: %s", strings.Join(types, ", "))
}

func (d *describer) policyRule(rule object.Object, peers, label string) {
	ports := rule.Objects("ports")
	if len(ports) == 0 {
		d.line(2, "To Port: <any> (traffic allowed to all ports)")
	}
	for _, p := range ports {
		d.line(2, "To Port: %s/%s", valueOr(p, "<any>", "port"), cmp.Or(p.String("protocol"), "TCP"))
	}
	list := rule.Objects(peers)
	if len(list) == 0 {
		side := map[string]string{"From": "source", "To": "destination"}[label]
		d.line(2, "%s: <any> (traffic not restricted by %s)", label, side)
	}
	for _, p := range list {
		d.line(2, "%s:", label)
		if s := p.Map("namespaceSelector"); s != nil {
			d.line(3, "NamespaceSelector: %s", selectorShown(s))
		}
		if s := p.Map("podSelector"); s != nil {
			d.line(3, "PodSelector: %s", selectorShown(s))
		}
		if b := p.At("ipBlock"); b != nil {
			d.line(3, "IPBlock:\n        CIDR: %s\n        Except: %s", b.String("cidr"), strings.Join(b.Strings("except"), ", "))
		}
	}
}

func (d *describer) ingressClass(obj object.Object) {
	d.head(obj)
	d.line(0, "Controller:\t%s", obj.String("spec", "controller"))
	if parameters := obj.At("spec", "parameters"); parameters != nil {
		d.line(0, "Parameters:")
		d.given(1, "APIGroup", parameters.String("apiGroup"))
		d.line(1, "Kind:\t%s", parameters.Kind())
		d.line(1, "Name:\t%s", parameters.String("name"))
	}
}

func (d *describer) endpointsOf(obj object.Object) {
	d.head(obj)
	d.line(0, "Subsets:")
	for _, subset := range obj.Objects("subsets") {
		for _, x := range [][2]string{{"Addresses", "addresses"}, {"NotReadyAddresses", "notReadyAddresses"}} {
			var ips []string
			for _, a := range subset.Objects(x[1]) {
				ips = append(ips, a.String("ip"))
			}
			d.line(1, "%s:\t%s", x[0], cmp.Or(strings.Join(ips, ","), "<none>"))
		}
		if ports := subset.Objects("ports"); len(ports) > 0 {
			d.line(1, "Ports:")
			d.portTable(2, ports)
		}
		d.line(0, "")
	}
}

func (d *describer) endpointSlice(obj object.Object) {
	d.head(obj)
	d.line(0, "AddressType:\t%s", obj.String("addressType"))
	if ports := obj.Objects("ports"); len(ports) > 0 {
		d.line(0, "Ports:")
		d.portTable(1, ports)
	} else {
		d.line(0, "Ports: <unset>")
	}
	endpoints := obj.Objects("endpoints")
	if len(endpoints) == 0 {
		d.line(0, "Endpoints: <none>")
		return
	}
	d.line(0, "Endpoints:")
	for _, e := range endpoints {
		d.line(1, "- Addresses:\t%s", cmp.Or(strings.Join(e.Strings("addresses"), ", "), "<none>"))
		d.line(2, "Conditions:")
		d.line(3, "Ready:\t%s", valueOr(e, "<unset>", "conditions", "ready"))
		d.line(2, "Hostname:\t%s", valueOr(e, "<unset>", "hostname"))
		if ref := e.At("targetRef"); ref != nil {
			d.line(2, "TargetRef:\t%s/%s", ref.Kind(), ref.String("name"))
		}
		d.line(2, "NodeName:\t%s", valueOr(e, "<unset>", "nodeName"))
		d.line(2, "Zone:\t%s", valueOr(e, "<unset>", "zone"))
	}
}

// portTable writes the ports of endpoints.
func (d *describer) portTable(level int, ports []object.Object) {
	d.line(level, "Name\tPort\tProtocol\n%s----\t----\t--------", strings.Repeat("  ", level))
	for _, p := range ports {
		d.line(level, "%s\t%s\t%s", cmp.Or(p.String("name"), "<unset>"), valueOr(p, "<unset>", "port"), p.String("protocol"))
	}
}
