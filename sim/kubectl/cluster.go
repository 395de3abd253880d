package kubectl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/wire"
)

// clusterWords say what a cluster is like.
var clusterWords = []word{
	{name: "describe", help: "Show details of a specific resource or group of resources", run: (*call).describeWord,
		flags: "all-namespaces|A? selector|l show-events? chunk-size#" + ofFiles},
	{name: "explain", help: "Get documentation for a resource", run: (*call).explain, flags: "recursive? api-version output"},
	{name: "api-resources", help: "Print the supported API resources on the server", run: (*call).apiResources,
		flags: "api-group cached? categories, namespaced? no-headers? output|o sort-by verbs, show-managed-fields?"},
	{name: "api-versions", help: `Print the supported API versions on the server, in the form of "group/version"`, run: (*call).apiVersions},
	{name: "cluster-info", help: "Display cluster information", run: (*call).clusterInfo},
	{name: "version", help: "Print the client and server version information", run: (*call).version, flags: "client? output|o"},
	{name: "auth", help: "Inspect authorization", sub: []word{
		{name: "can-i", help: "Check whether an action is allowed", run: (*call).canI, flags: "all-namespaces|A? list? no-headers? quiet|q? subresource"},
		{name: "whoami", help: "Experimental: Check self subject attributes", run: (*call).whoAmI, flags: printed},
	}},
}

func (c *call) version() error {
	client := map[string]any{"gitVersion": clientVersion, "major": "1", "minor": strings.TrimPrefix(schema.Default, "1.")}
	out := map[string]any{"clientVersion": client, "kustomizeVersion": kustomizeVersion}
	var server object.Object
	if !c.on("client") {
		var err error
		if server, err = c.get("/version", nil); err != nil {
			return err
		}
		out["serverVersion"] = map[string]any(server)
	}
	switch c.text("output") {
	case "json":
		c.printf("%s", halved(indented(object.JSON(out))))
	case "yaml":
		c.printf("%s", yaml(object.JSON(out)))
	case "":
		c.printf("Client Version: %s\nKustomize Version: %s\n", clientVersion, kustomizeVersion)
		if server != nil {
			c.printf("Server Version: %s\n", server.String("gitVersion"))
		}
	default:
		return fmt.Errorf("--output must be 'yaml' or 'json'")
	}
	return nil
}

func (c *call) clusterInfo() error {
	c.printf("Kubernetes control plane is running at %s\n\nTo further debug and diagnose cluster problems, use 'kubectl cluster-info dump'.\n", c.Config.Server)
	return nil
}

func (c *call) apiVersions() error {
	s, err := c.discover()
	if err != nil {
		return err
	}
	for _, v := range s.versions {
		c.printf("%s\n", v)
	}
	return nil
}

func (c *call) apiResources() error {
	s, err := c.discover()
	if err != nil {
		return err
	}
	var list []*mapping
	for _, m := range s.all {
		known := slices.ContainsFunc(list, func(o *mapping) bool { return o.is(m.resource, m.group) })
		if !known && len(m.verbs) > 0 && c.wants(m) {
			list = append(list, m)
		}
	}
	slices.SortStableFunc(list, func(a, b *mapping) int {
		switch c.text("sort-by") {
		case "name":
			return strings.Compare(a.resource, b.resource)
		case "kind":
			return strings.Compare(a.kind, b.kind)
		}
		return cmp.Or(strings.Compare(a.group, b.group), strings.Compare(a.resource, b.resource))
	})
	var rows [][]string
	wide := c.text("output") == "wide"
	if !c.on("no-headers") {
		rows = append(rows, []string{"NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"})
		if wide {
			rows[0] = append(rows[0], "VERBS", "CATEGORIES")
		}
	}
	for _, m := range list {
		if c.text("output") == "name" {
			c.printf("%s\n", m.plural())
			continue
		}
		row := []string{m.resource, strings.Join(m.short, ","), m.gv(), fmt.Sprint(m.namespaced), m.kind}
		if wide {
			row = append(row, strings.Join(m.verbs, ","), strings.Join(m.categories, ","))
		}
		rows = append(rows, row)
	}
	if c.text("output") != "name" {
		c.table(rows)
	}
	return nil
}

// wants reports whether the flags let a resource through.
func (c *call) wants(m *mapping) bool {
	if c.given("namespaced") && c.on("namespaced") != m.namespaced || c.given("api-group") && c.text("api-group") != m.group {
		return false
	}
	for _, v := range c.list("verbs") {
		if !slices.Contains(m.verbs, v) {
			return false
		}
	}
	for _, v := range c.list("categories") {
		if !slices.Contains(m.categories, v) {
			return false
		}
	}
	return true
}

// review posts one of the reviews of authorization and authentication.
func (c *call) review(group, kind string, spec map[string]any) (object.Object, error) {
	body := map[string]any{"apiVersion": group + "/v1", "kind": kind}
	if spec != nil {
		body["spec"] = spec
	}
	path := "/apis/" + group + "/v1/" + strings.ToLower(kind) + "s"
	return c.ask(c.request(wire.MethodPost, path, nil, "application/json", object.JSON(body)))
}

func (c *call) whoAmI() error {
	answer, err := c.review("authentication.k8s.io", "SelfSubjectReview", nil)
	if err != nil {
		return err
	}
	if c.text("output") != "" {
		return c.said(&target{obj: answer, m: &mapping{kind: "SelfSubjectReview", group: "authentication.k8s.io"}}, "")
	}
	user := answer.At("status", "userInfo")
	rows := [][]string{{"ATTRIBUTE", "VALUE"}, {"Username", user.String("username")}}
	if uid := user.String("uid"); uid != "" {
		rows = append(rows, []string{"UID", uid})
	}
	rows = append(rows, []string{"Groups", fmt.Sprint(user.Strings("groups"))})
	for _, k := range object.SortedKeys(user.Map("extra")) {
		rows = append(rows, []string{"Extra: " + k, fmt.Sprint(user.Strings("extra", k))})
	}
	c.table(rows)
	return nil
}

// canI asks whether something is allowed.
func (c *call) canI() error {
	if c.on("list") {
		return c.allowedRules()
	}
	if len(c.args) != 2 && len(c.args) != 3 {
		return &misuse{"you must specify two arguments: verb resource or verb resource/resourceName.", "See '" + c.path + " -h' for help and examples."}
	}
	verb, subject := c.args[0], c.args[1]
	spec := map[string]any{}
	if strings.HasPrefix(subject, "/") {
		spec["nonResourceAttributes"] = map[string]any{"verb": verb, "path": subject}
	} else {
		spec["resourceAttributes"] = c.accessOf(verb, subject)
	}
	answer, err := c.review("authorization.k8s.io", "SelfSubjectAccessReview", spec)
	if err != nil {
		return err
	}
	text, allowed := "no", answer.True("status", "allowed")
	if allowed {
		text = "yes"
	} else {
		if r := answer.String("status", "reason"); r != "" {
			text += " - " + r
		}
		if e := answer.String("status", "evaluationError"); e != "" {
			text += " - " + e
		}
	}
	if !c.on("quiet") {
		c.printf("%s\n", text)
	}
	if !allowed {
		return exitCode(1)
	}
	return nil
}

// accessOf returns what is asked for: a resource, one of its objects, or a part of one.
func (c *call) accessOf(verb, subject string) map[string]any {
	resource, name, _ := strings.Cut(subject, "/")
	attributes := map[string]any{"verb": verb, "resource": resource}
	if name != "" {
		attributes["name"] = name
	}
	if sub := c.text("subresource"); sub != "" {
		attributes["subresource"] = sub
	}
	if resource != "*" {
		m, err := c.find(resource)
		switch {
		case err != nil:
			if !c.on("quiet") {
				c.complain("Warning: the server doesn't have a resource type '%s'\n\n", resource)
			}
		default:
			attributes["group"], attributes["resource"] = m.group, m.resource
			if !m.namespaced && !c.on("quiet") {
				inGroup := ""
				if m.group != "" {
					inGroup = " in group '" + m.group + "'"
				}
				c.complain("Warning: resource '%s' is not namespace scoped%s\n\n", m.resource, inGroup)
			}
		}
	} else {
		attributes["group"] = "*"
	}
	if !c.on("all-namespaces") {
		attributes["namespace"] = c.namespace()
	}
	return attributes
}

// allowedRules prints what somebody may do.
func (c *call) allowedRules() error {
	answer, err := c.review("authorization.k8s.io", "SelfSubjectRulesReview", map[string]any{"namespace": c.namespace()})
	if err != nil {
		return err
	}
	rows := [][]string{{"Resources", "Non-Resource URLs", "Resource Names", "Verbs"}}
	if c.on("no-headers") {
		rows = nil
	}
	var body [][]string
	for _, rule := range answer.Objects("status", "resourceRules") {
		for _, g := range rule.Strings("apiGroups") {
			for _, r := range rule.Strings("resources") {
				base, sub, has := strings.Cut(r, "/")
				name := joinGroup(base, g)
				if has {
					name += "/" + sub
				}
				body = append(body, []string{name, "[]", fmt.Sprint(rule.Strings("resourceNames")), fmt.Sprint(rule.Strings("verbs"))})
			}
		}
	}
	slices.SortStableFunc(body, func(a, b []string) int { return len(b[3]) - len(a[3]) })
	var urls [][]string
	for _, rule := range answer.Objects("status", "nonResourceRules") {
		for _, u := range rule.Strings("nonResourceURLs") {
			urls = append(urls, []string{"", "[" + u + "]", "[]", fmt.Sprint(rule.Strings("verbs"))})
		}
	}
	slices.SortStableFunc(urls, func(a, b []string) int { return strings.Compare(a[1], b[1]) })
	c.table(append(append(rows, body...), urls...))
	return nil
}
