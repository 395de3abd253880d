package describe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/printer"
	"github.com/kubesim/kubesim/sim/object"
)

func (d *describer) pod(obj object.Object) {
	spec, status := obj.At("spec"), obj.At("status")
	d.line(0, "Name:\t%s\nNamespace:\t%s", obj.Name(), obj.Namespace())
	if spec.Has("priority") {
		d.line(0, "Priority:\t%d", spec.Int64("priority"))
		d.given(0, "Priority Class Name", spec.String("priorityClassName"))
	}
	d.given(0, "Runtime Class Name", spec.String("runtimeClassName"))
	d.given(0, "Service Account", spec.String("serviceAccountName"))
	node := "<none>"
	if n := spec.String("nodeName"); n != "" {
		node = n + "/" + status.String("hostIP")
	}
	d.line(0, "Node:\t%s", node)
	if started := status.String("startTime"); started != "" {
		d.line(0, "Start Time:\t%s", when(started))
	}
	d.metadata(obj)
	if obj.DeletionTimestamp() != "" {
		d.line(0, "Status:\tTerminating (lasts %s)", printer.Age(d.Now(), obj.DeletionTimestamp()))
		grace, _ := obj.DeletionGracePeriodSeconds()
		d.line(0, "Termination Grace Period:\t%ds", grace)
	} else {
		d.line(0, "Status:\t%s", status.String("phase"))
	}
	for _, f := range []string{"reason", "message"} {
		d.given(0, title(f), status.String(f))
	}
	d.podIPs(status)
	d.controlledBy(obj)
	d.given(0, "NominatedNodeName", status.String("nominatedNodeName"))
	d.containers("Init Containers", spec.Objects("initContainers"), status.Objects("initContainerStatuses"), "")
	d.containers("Containers", spec.Objects("containers"), status.Objects("containerStatuses"), "")
	d.podRest(obj)
}

func (d *describer) podIPs(status object.Object) {
	d.line(0, "IP:\t%s", status.String("podIP"))
	if len(status.Objects("podIPs")) == 0 {
		d.line(0, "IPs:\t<none>")
		return
	}
	d.line(0, "IPs:")
	for _, ip := range status.Objects("podIPs") {
		d.line(1, "IP:\t%s", ip.String("ip"))
	}
}

// podRest writes the part of a pod's description that follows the containers.
func (d *describer) podRest(obj object.Object) {
	spec := obj.At("spec")
	if gates := spec.Objects("readinessGates"); len(gates) > 0 {
		d.line(0, "Readiness Gates:\n  Type\tStatus")
		for _, g := range gates {
			status := "<none>"
			for _, cond := range obj.Objects("status", "conditions") {
				if cond.String("type") == g.String("conditionType") {
					status = cond.String("status")
				}
			}
			d.line(1, "%s \t%s ", g.String("conditionType"), status)
		}
	}
	if conds := obj.Objects("status", "conditions"); len(conds) > 0 {
		d.line(0, "Conditions:\n  Type\tStatus")
		for _, cond := range conds {
			d.line(1, "%s \t%s ", cond.String("type"), cond.String("status"))
		}
	}
	d.volumes(spec.Objects("volumes"), "")
	d.line(0, "QoS Class:\t%s", obj.String("status", "qosClass"))
	d.labels(0, "Node-Selectors", object.StringMap(spec.Map("nodeSelector")))
	d.tolerations(0, spec)
	for _, t := range spec.Objects("topologySpreadConstraints") {
		d.line(0, "Topology Spread Constraints:\t%s:%s when max skew %d is exceeded for selector %s", t.String("topologyKey"),
			t.String("whenUnsatisfiable"), t.Int64("maxSkew"), selectorShown(t.Map("labelSelector")))
	}
}

func (d *describer) tolerations(level int, spec object.Object) {
	var out []string
	for _, t := range spec.Objects("tolerations") {
		text := t.String("key")
		if v := t.String("value"); v != "" {
			text += "=" + v
		}
		if e := t.String("effect"); e != "" {
			text += ":" + e
		}
		if t.String("operator") == "Exists" && t.String("value") == "" {
			if t.String("key") != "" || t.String("effect") != "" {
				text += " "
			}
			text += "op=Exists"
		}
		if n, ok := t.Int("tolerationSeconds"); ok {
			text += fmt.Sprintf(" for %ds", n)
		}
		out = append(out, text)
	}
	slices.Sort(out)
	d.line(level, "Tolerations:\t%s", cmp.Or(strings.Join(out, "\n\t"), "<none>"))
}

// containers writes the descriptions of containers. space is added to the indentation of their names.
func (d *describer) containers(label string, list, statuses []object.Object, space string) {
	if len(list) == 0 {
		return
	}
	d.line(0, "%s%s:", space, label)
	for _, one := range list {
		var status object.Object
		for _, s := range statuses {
			if s.String("name") == one.String("name") {
				status = s
			}
		}
		name := "  "
		if space != "" {
			name = " "
		}
		d.line(0, "%s%s%s:", space, name, one.String("name"))
		d.container(one, status)
	}
}

func (d *describer) container(one, status object.Object) {
	if status != nil {
		d.line(2, "Container ID:\t%s", status.String("containerID"))
	}
	d.line(2, "Image:\t%s", one.String("image"))
	if status != nil {
		d.line(2, "Image ID:\t%s", status.String("imageID"))
	}
	d.ports(one)
	d.texts("Command", one.Strings("command"))
	d.texts("Args", one.Strings("args"))
	if status != nil {
		d.state("State", status.At("state"))
		if len(status.At("lastState")) > 0 {
			d.state("Last State", status.At("lastState"))
		}
		ready := "False"
		if status.True("ready") {
			ready = "True"
		}
		d.line(2, "Ready:\t%s", ready)
		d.line(2, "Restart Count:\t%d", status.Int64("restartCount"))
	}
	for _, kind := range []string{"limits", "requests"} {
		amounts := one.Map("resources", kind)
		if len(amounts) == 0 {
			continue
		}
		d.line(2, "%s:", title(kind))
		for _, name := range object.SortedKeys(amounts) {
			d.line(3, "%s:\t%v", name, amounts[name])
		}
	}
	for _, kind := range []string{"liveness", "readiness", "startup"} {
		if p := one.At(kind + "Probe"); p != nil {
			d.line(2, "%s:\t%s", title(kind), probeText(p))
		}
	}
	d.environment(one)
	d.mounts(one)
}

func (d *describer) texts(label string, list []string) {
	if len(list) == 0 {
		return
	}
	d.line(2, "%s:", label)
	for _, text := range list {
		for _, line := range strings.Split(text, "\n") {
			d.line(3, "%s", line)
		}
	}
}

func (d *describer) ports(one object.Object) {
	var ports, host []string
	for _, p := range one.Objects("ports") {
		protocol := cmp.Or(p.String("protocol"), "TCP")
		text, hostText := fmt.Sprintf("%d/%s", p.Int64("containerPort"), protocol), fmt.Sprintf("%d/%s", p.Int64("hostPort"), protocol)
		if name := p.String("name"); name != "" {
			text, hostText = text+" ("+name+")", hostText+" ("+name+")"
		}
		ports, host = append(ports, text), append(host, hostText)
	}
	plural := ""
	if len(ports) > 1 {
		plural = "s"
	}
	d.line(2, "Port%s:\t%s", plural, cmp.Or(strings.Join(ports, ", "), "<none>"))
	d.line(2, "Host Port%s:\t%s", plural, cmp.Or(strings.Join(host, ", "), "<none>"))
}

func (d *describer) state(label string, state object.Object) {
	switch {
	case state.At("running") != nil:
		d.line(2, "%s:\tRunning", label)
		d.line(3, "Started:\t%s", when(state.String("running", "startedAt")))
	case state.At("waiting") != nil:
		d.line(2, "%s:\tWaiting", label)
		d.given(3, "Reason", state.String("waiting", "reason"))
	case state.At("terminated") != nil:
		end := state.At("terminated")
		d.line(2, "%s:\tTerminated", label)
		for _, f := range []string{"reason", "message"} {
			d.given(3, title(f), end.String(f))
		}
		d.line(3, "Exit Code:\t%d", end.Int64("exitCode"))
		if n := end.Int64("signal"); n > 0 {
			d.line(3, "Signal:\t%d", n)
		}
		d.line(3, "Started:\t%s\n      Finished:\t%s", when(end.String("startedAt")), when(end.String("finishedAt")))
	default:
		d.line(2, "%s:\tWaiting", label)
	}
}

// probeText returns the description of a probe.
func probeText(p object.Object) string {
	rest := fmt.Sprintf("delay=%ds timeout=%ds period=%ds #success=%d #failure=%d", p.Int64("initialDelaySeconds"), p.Int64("timeoutSeconds"),
		p.Int64("periodSeconds"), p.Int64("successThreshold"), p.Int64("failureThreshold"))
	switch {
	case p.At("exec") != nil:
		return fmt.Sprintf("exec %v %s", p.Strings("exec", "command"), rest)
	case p.At("httpGet") != nil:
		g := p.At("httpGet")
		return fmt.Sprintf("http-get %s://%s:%s%s %s", strings.ToLower(cmp.Or(g.String("scheme"), "HTTP")), g.String("host"), valueOr(g, "", "port"), g.String("path"), rest)
	case p.At("tcpSocket") != nil:
		return fmt.Sprintf("tcp-socket %s:%s %s", p.String("tcpSocket", "host"), valueOr(p, "", "tcpSocket", "port"), rest)
	case p.At("grpc") != nil:
		return fmt.Sprintf("grpc <pod>:%d %s %s", p.Int64("grpc", "port"), p.String("grpc", "service"), rest)
	}
	return "unknown " + rest
}

func (d *describer) environment(one object.Object) {
	if from := one.Objects("envFrom"); len(from) > 0 {
		d.line(2, "Environment Variables from:")
		for _, e := range from {
			name, kind, ref := "", "", object.Object(nil)
			if ref = e.At("configMapRef"); ref != nil {
				kind = "ConfigMap"
			} else if ref = e.At("secretRef"); ref != nil {
				kind = "Secret"
			}
			if prefix := e.String("prefix"); prefix != "" {
				name = " with prefix '" + prefix + "'"
			}
			d.line(3, "%s\t%s%s\tOptional: %t", ref.String("name"), kind, name, ref.True("optional"))
		}
	}
	env := one.Objects("env")
	if len(env) == 0 {
		d.line(2, "Environment:\t<none>")
		return
	}
	d.line(2, "Environment:")
	for _, e := range env {
		from := e.At("valueFrom")
		switch {
		case from == nil:
			for i, line := range strings.Split(e.String("value"), "\n") {
				if i == 0 {
					d.line(3, "%s:\t%s", e.String("name"), line)
				} else {
					d.line(3, "\t%s", line)
				}
			}
		case from.At("fieldRef") != nil:
			d.line(3, "%s:\t (%s:%s)", e.String("name"), cmp.Or(from.String("fieldRef", "apiVersion"), "v1"), from.String("fieldRef", "fieldPath"))
		case from.At("resourceFieldRef") != nil:
			d.line(3, "%s:\t (%s)", e.String("name"), from.String("resourceFieldRef", "resource"))
		case from.At("secretKeyRef") != nil:
			ref := from.At("secretKeyRef")
			d.line(3, "%s:\t<set to the key '%s' in secret '%s'>\tOptional: %t", e.String("name"), ref.String("key"), ref.String("name"), ref.True("optional"))
		default:
			ref := from.At("configMapKeyRef")
			d.line(3, "%s:\t<set to the key '%s' of config map '%s'>\tOptional: %t", e.String("name"), ref.String("key"), ref.String("name"), ref.True("optional"))
		}
	}
}

func (d *describer) mounts(one object.Object) {
	mounts := slices.Clone(one.Objects("volumeMounts"))
	if len(mounts) == 0 {
		d.line(2, "Mounts:\t<none>")
		return
	}
	slices.SortStableFunc(mounts, func(a, b object.Object) int { return strings.Compare(a.String("mountPath"), b.String("mountPath")) })
	d.line(2, "Mounts:")
	for _, m := range mounts {
		flags := "rw"
		if m.True("readOnly") {
			flags = "ro"
		}
		if sub := m.String("subPath"); sub != "" {
			flags += fmt.Sprintf(",path=%q", sub)
		}
		d.line(3, "%s from %s (%s)", m.String("mountPath"), m.String("name"), flags)
	}
}
