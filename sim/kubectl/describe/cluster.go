package describe

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/printer"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

func (d *describer) configMap(obj object.Object) {
	d.head(obj)
	d.line(0, "\nData\n====")
	data := obj.Map("data")
	for _, k := range object.SortedKeys(data) {
		d.line(0, "%s:\n----\n%v\n", k, data[k])
	}
	d.line(0, "\nBinaryData\n====")
	binary := obj.Map("binaryData")
	for _, k := range object.SortedKeys(binary) {
		text, _ := binary[k].(string)
		raw, _ := base64.StdEncoding.DecodeString(text)
		d.line(0, "%s: %d bytes", k, len(raw))
	}
	d.line(0, "")
}

func (d *describer) secret(obj object.Object) {
	d.head(obj)
	d.line(0, "\nType:\t%s\n\nData\n====", obj.String("type"))
	data := obj.Map("data")
	for _, k := range object.SortedKeys(data) {
		text, _ := data[k].(string)
		raw, _ := base64.StdEncoding.DecodeString(text)
		if k == "token" && obj.String("type") == "kubernetes.io/service-account-token" {
			d.line(0, "%s:\t%s", k, raw)
			continue
		}
		d.line(0, "%s:\t%d bytes", k, len(raw))
	}
}

func (d *describer) namespaceOf(obj object.Object) {
	d.head(obj)
	d.line(0, "Status:\t%s", obj.String("status", "phase"))
	if conds := obj.Objects("status", "conditions"); len(conds) > 0 {
		d.line(0, "Conditions:\n  Type\tStatus\tLastTransitionTime\tReason\tMessage\n  ----\t------\t------------------\t------\t-------")
		for _, cond := range conds {
			d.line(1, "%s\t%s\t%s\t%s\t%s", cond.String("type"), cond.String("status"), when(cond.String("lastTransitionTime")), cond.String("reason"), cond.String("message"))
		}
	}
	for _, x := range []struct{ resource, none, some string }{
		{"resourcequotas", "\nNo resource quota.", "\nResource Quotas"}, {"limitranges", "\nNo LimitRange resource.", "\nResource Limits"}} {
		items := d.list(x.resource, obj.Name())
		if len(items) == 0 {
			d.line(0, "%s", x.none)
			continue
		}
		d.line(0, "%s", x.some)
		for _, item := range items {
			if x.resource == "limitranges" {
				d.limits(" ", item)
				continue
			}
			d.line(1, "Name:\t%s", item.Name())
			d.quotaRows(1, item, "--------\t---\t---")
		}
	}
}

func (d *describer) quota(obj object.Object) {
	d.line(0, "Name:\t%s\nNamespace:\t%s", obj.Name(), obj.Namespace())
	d.given(0, "Scopes", strings.Join(obj.Strings("spec", "scopes"), ", "))
	d.quotaRows(0, obj, "--------\t----\t----")
}

func (d *describer) quotaRows(level int, obj object.Object, rule string) {
	d.line(level, "Resource\tUsed\tHard")
	d.line(level, "%s", rule)
	hard, used := obj.Map("status", "hard"), obj.Map("status", "used")
	for _, k := range object.SortedKeys(hard) {
		d.line(level, "%s\t%v\t%v", k, cmp.Or(fmt.Sprint(used[k]), "0"), hard[k])
	}
}

func (d *describer) limitRange(obj object.Object) {
	d.line(0, "Name:\t%s\nNamespace:\t%s", obj.Name(), obj.Namespace())
	d.limits("", obj)
}

// limits writes a table of limits. Its lines begin with indent.
func (d *describer) limits(indent string, obj object.Object) {
	d.line(0, "%sType\tResource\tMin\tMax\tDefault Request\tDefault Limit\tMax Limit/Request Ratio", indent)
	d.line(0, "%s----\t--------\t---\t---\t---------------\t-------------\t-----------------------", indent)
	fields := []string{"min", "max", "defaultRequest", "default", "maxLimitRequestRatio"}
	for _, limit := range obj.Objects("spec", "limits") {
		names := map[string]bool{}
		for _, f := range fields {
			for _, k := range object.SortedKeys(limit.Map(f)) {
				names[k] = true
			}
		}
		for _, name := range object.SortedKeys(names) {
			row := []string{limit.String("type"), name}
			for _, f := range fields {
				row = append(row, valueOr(limit, "-", f, name))
			}
			d.line(0, "%s%s", indent, strings.Join(row, "\t"))
		}
	}
}

func (d *describer) serviceAccount(obj object.Object) {
	d.head(obj)
	names := func(label string, list []object.Object) {
		if len(list) == 0 {
			d.line(0, "%s:\t<none>", label)
			return
		}
		var out []string
		for _, x := range list {
			out = append(out, x.String("name"))
		}
		d.line(0, "%s:\t%s", label, strings.Join(out, "\n\t"))
	}
	names("Image pull secrets", obj.Objects("imagePullSecrets"))
	if list := obj.Objects("secrets"); len(list) > 0 {
		names("Mountable secrets", list)
	}
}

func (d *describer) priorityClass(obj object.Object) {
	d.line(0, "Name:\t%s\nValue:\t%d\nGlobalDefault:\t%t\nPreemptionPolicy:\t%s\nDescription:\t%s", obj.Name(), obj.Int64("value"),
		obj.True("globalDefault"), obj.String("preemptionPolicy"), obj.String("description"))
	d.line(0, "Annotations:\t%s", printer.Pairs(obj.Annotations(), "=", ","))
}

func (d *describer) role(obj object.Object) {
	d.line(0, "Name:\t%s", obj.Name())
	d.metadata(obj)
	d.line(0, "PolicyRule:\n  Resources\tNon-Resource URLs\tResource Names\tVerbs\n  ---------\t-----------------\t--------------\t-----")
	var rows []*policyRow
	for _, rule := range obj.Objects("rules") {
		for _, group := range rule.Strings("apiGroups") {
			for _, resource := range rule.Strings("resources") {
				names := rule.Strings("resourceNames")
				if len(names) == 0 {
					names = []string{""}
				}
				for _, name := range names {
					rows = compactRow(rows, policyRow{group: group, resource: resource, name: name}, rule.Strings("verbs"))
				}
			}
		}
		for _, url := range rule.Strings("nonResourceURLs") {
			for _, verb := range rule.Strings("verbs") {
				rows = append(rows, &policyRow{url: url, verbs: []string{verb}})
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b *policyRow) int { return strings.Compare(a.key(), b.key()) })
	for _, r := range rows {
		base, sub, has := strings.Cut(r.resource, "/")
		name := client.JoinGroup(base, r.group)
		if has {
			name += "/" + sub
		}
		d.line(1, "%s\t[%s]\t[%s]\t%v", name, r.url, r.name, r.verbs)
	}
}

// policyRow is a rule with one resource, or with one URL and one verb (BreakdownRule).
type policyRow struct {
	group, resource, name, url string
	verbs                      []string
}

// key is the text by which kubectl sorts rules (PolicyRule.String).
func (r *policyRow) key() string {
	return fmt.Sprintf("Verbs:%v,APIGroups:[%s],Resources:[%s],ResourceNames:[%s],NonResourceURLs:[%s]", r.verbs, r.group, r.resource, r.name, r.url)
}

// compactRow adds verbs to the row of a resource (CompactRules).
func compactRow(rows []*policyRow, r policyRow, verbs []string) []*policyRow {
	i := slices.IndexFunc(rows, func(o *policyRow) bool {
		return o.url == "" && o.group == r.group && o.resource == r.resource && o.name == r.name
	})
	if i < 0 {
		i = len(rows)
		rows = append(rows, &r)
	}
	for _, v := range verbs {
		if !slices.Contains(rows[i].verbs, v) {
			rows[i].verbs = append(rows[i].verbs, v)
		}
	}
	return rows
}

func (d *describer) binding(obj object.Object) {
	d.line(0, "Name:\t%s", obj.Name())
	d.metadata(obj)
	d.line(0, "Role:\n  Kind:\t%s\n  Name:\t%s\nSubjects:\n  Kind\tName\tNamespace\n  ----\t----\t---------", obj.String("roleRef", "kind"), obj.String("roleRef", "name"))
	for _, s := range obj.Objects("subjects") {
		d.line(1, "%s\t%s\t%s", s.String("kind"), s.String("name"), s.String("namespace"))
	}
}

func (d *describer) node(obj object.Object) {
	roles := []string{}
	for _, k := range object.SortedKeys(obj.Labels()) {
		if role, ok := strings.CutPrefix(k, "node-role.kubernetes.io/"); ok {
			roles = append(roles, role)
		}
	}
	d.line(0, "Name:\t%s\nRoles:\t%s", obj.Name(), cmp.Or(strings.Join(roles, ","), "<none>"))
	d.metadata(obj)
	d.created(obj)
	var taints []string
	for _, t := range obj.Objects("spec", "taints") {
		text := t.String("key")
		if v := t.String("value"); v != "" {
			text += "=" + v
		}
		taints = append(taints, text+":"+t.String("effect"))
	}
	slices.Sort(taints)
	d.line(0, "Taints:\t%s\nUnschedulable:\t%t", cmp.Or(strings.Join(taints, "\n\t"), "<none>"), obj.True("spec", "unschedulable"))
	if m, err := d.Find("leases.coordination.k8s.io"); err == nil {
		lease, err := d.Get(m.Path("kube-node-lease", obj.Name()), nil)
		if err != nil {
			d.line(0, "Lease:\tFailed to get lease: %s", err)
		} else {
			d.line(0, "Lease:\n  HolderIdentity:\t%s\n  AcquireTime:\t%s\n  RenewTime:\t%s", valueOr(lease, "<unset>", "spec", "holderIdentity"),
				cmp.Or(when(lease.String("spec", "acquireTime")), "<unset>"), cmp.Or(when(lease.String("spec", "renewTime")), "<unset>"))
		}
	}
	d.nodeStatus(obj)
	d.nodePods(obj)
}

func (d *describer) nodeStatus(obj object.Object) {
	status := obj.At("status")
	if conds := status.Objects("conditions"); len(conds) > 0 {
		d.line(0, "Conditions:\n  Type\tStatus\tLastHeartbeatTime\tLastTransitionTime\tReason\tMessage\n  ----\t------\t-----------------\t------------------\t------\t-------")
		for _, cond := range conds {
			d.line(1, "%s \t%s \t%s \t%s \t%s \t%s", cond.String("type"), cond.String("status"), when(cond.String("lastHeartbeatTime")),
				when(cond.String("lastTransitionTime")), cond.String("reason"), cond.String("message"))
		}
	}
	d.line(0, "Addresses:")
	for _, a := range status.Objects("addresses") {
		d.line(1, "%s:\t%s", a.String("type"), a.String("address"))
	}
	for _, f := range []string{"capacity", "allocatable"} {
		d.line(0, "%s:", title(f))
		amounts := status.Map(f)
		for _, k := range object.SortedKeys(amounts) {
			d.line(1, "%s:\t%v", k, amounts[k])
		}
	}
	info := status.At("nodeInfo")
	d.line(0, "System Info:")
	for _, f := range [][2]string{{"Machine ID", "machineID"}, {"System UUID", "systemUUID"}, {"Boot ID", "bootID"}, {"Kernel Version", "kernelVersion"},
		{"OS Image", "osImage"}, {"Operating System", "operatingSystem"}, {"Architecture", "architecture"},
		{"Container Runtime Version", "containerRuntimeVersion"}, {"Kubelet Version", "kubeletVersion"}} {
		d.line(1, "%s:\t%s", f[0], info.String(f[1]))
	}
	spec := obj.At("spec")
	d.given(0, "PodCIDR", spec.String("podCIDR"))
	d.given(0, "PodCIDRs", strings.Join(spec.Strings("podCIDRs"), ","))
	d.given(0, "ProviderID", spec.String("providerID"))
}

// nodePods writes a node's pods with their requests and limits.
func (d *describer) nodePods(obj object.Object) {
	pods := d.list("pods", "", "fieldSelector", "spec.nodeName="+obj.Name()+",status.phase!=Failed,status.phase!=Succeeded")
	d.line(0, "Non-terminated Pods:\t(%d in total)", len(pods))
	d.line(1, "Namespace\tName\t\tCPU Requests\tCPU Limits\tMemory Requests\tMemory Limits\tAge")
	d.line(1, "---------\t----\t\t------------\t----------\t---------------\t-------------\t---")
	total := map[string]quantity.Quantity{}
	share := func(name string, q quantity.Quantity) string {
		v, _ := obj.Get("status", "allocatable", name)
		all := quantity.Of(v)
		percent := int64(0)
		if !all.IsZero() {
			percent = q.MilliValue() * 100 / all.MilliValue()
		}
		return fmt.Sprintf("%s (%d%%)", q.String(), percent)
	}
	for _, p := range pods {
		row := []string{p.Namespace(), p.Name(), ""}
		for _, name := range []string{"cpu", "memory"} {
			for _, kind := range []string{"requests", "limits"} {
				row = append(row, share(name, asked(p, kind, name)))
			}
		}
		for _, kind := range []string{"requests", "limits"} {
			for _, name := range object.SortedKeys(obj.Map("status", "allocatable")) {
				total[kind+name] = sumOf(total[kind+name], asked(p, kind, name))
			}
		}
		d.line(1, "%s\t%s", strings.Join(row, "\t"), printer.Age(d.Now(), p.String("metadata", "creationTimestamp")))
	}
	d.line(0, "Allocated resources:\n  (Total limits may be over 100 percent, i.e., overcommitted.)\n  Resource\tRequests\tLimits\n  --------\t--------\t------")
	names := []string{"cpu", "memory", "ephemeral-storage"}
	for _, k := range object.SortedKeys(obj.Map("status", "allocatable")) {
		if k != "pods" && !slices.Contains(names, k) {
			names = append(names, k)
		}
	}
	for _, name := range names {
		zero := quantity.MustParse("0")
		d.line(1, "%s\t%s\t%s", name, share(name, sumOf(zero, total["requests"+name])), share(name, sumOf(zero, total["limits"+name])))
	}
}

// sumOf adds two amounts. Either may be zero.
func sumOf(a, b quantity.Quantity) quantity.Quantity {
	if b.IsZero() {
		return a
	}
	if a.IsZero() {
		return b
	}
	return a.Add(b)
}

// asked returns the sum of the requests or limits of a pod's containers.
func asked(p object.Object, kind, name string) quantity.Quantity {
	sum := quantity.MustParse("0")
	for _, one := range p.Objects("spec", "containers") {
		if v, ok := one.Get("resources", kind, name); ok {
			sum = sumOf(sum, quantity.Of(v))
		}
	}
	return sum
}
