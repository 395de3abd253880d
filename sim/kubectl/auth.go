package kubectl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/printer"
	"github.com/kubesim/kubesim/sim/object"
)

// review creates a review of the authentication or authorization API, such as a SelfSubjectReview, and returns the response.
func review(c *client.Client, group, kind string, spec map[string]any) (object.Object, error) {
	obj := object.Object{"apiVersion": group + "/v1", "kind": kind}
	if spec != nil {
		obj["spec"] = spec
	}
	return c.Post("/apis/"+group+"/v1/"+strings.ToLower(kind)+"s", obj)
}

func runWhoAmI(c *call) error {
	answer, err := review(c.Client, "authentication.k8s.io", "SelfSubjectReview", nil)
	if err != nil {
		return err
	}
	if c.Text("output") != "" {
		return c.printObj(&client.Info{Object: answer, Mapping: &client.Mapping{Kind: "SelfSubjectReview", Group: "authentication.k8s.io"}}, "")
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
	printer.Table(c.Out, rows)
	return nil
}

// The verbs that auth can-i knows, for resources and for other paths. It warns about others.
const (
	resourceVerbs = "get list watch create update patch delete deletecollection use bind impersonate * approve sign escalate attest"
	urlVerbs      = "get put post head options delete patch *"
)

// runCanI checks whether the user may perform an action.
func runCanI(c *call) error {
	switch {
	case c.On("list") && len(c.Args) > 0:
		return fmt.Errorf("list option must be specified with no arguments")
	case c.On("list") && (c.On("quiet") || c.On("all-namespaces") || c.Given("subresource")):
		return fmt.Errorf("list option can't be specified with neither quiet, all-namespaces nor subresource options")
	case c.On("list"):
		return c.allowedRules()
	}
	if len(c.Args) != 2 && len(c.Args) != 3 {
		return &usageError{"you must specify two arguments: verb resource or verb resource/resourceName.", "See '" + c.path + " -h' for help and examples."}
	}
	verb, subject := c.Args[0], c.Args[1]
	spec, known := map[string]any{}, resourceVerbs
	if strings.HasPrefix(subject, "/") {
		if c.Given("subresource") {
			return fmt.Errorf("--subresource can not be used with NonResourceURL")
		}
		spec["nonResourceAttributes"], known = map[string]any{"verb": verb, "path": subject}, urlVerbs
	} else {
		spec["resourceAttributes"] = c.accessOf(verb, subject)
	}
	if !slices.Contains(strings.Fields(known), verb) {
		c.Complain("Warning: verb '%s' is not a known verb\n\n", verb)
	}
	if c.On("no-headers") {
		return fmt.Errorf("--no-headers cannot be set without --list specified")
	}
	answer, err := review(c.Client, "authorization.k8s.io", "SelfSubjectAccessReview", spec)
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
	if !c.On("quiet") {
		c.Printf("%s\n", text)
	}
	if !allowed {
		return exitCode(1)
	}
	return nil
}

// accessOf returns the resourceAttributes of an access review for a resource, an object ("pods/web") or, with --subresource, a
// subresource.
func (c *call) accessOf(verb, subject string) map[string]any {
	resource, name, _ := strings.Cut(subject, "/")
	attributes := map[string]any{"verb": verb, "resource": resource}
	if name != "" {
		attributes["name"] = name
	}
	if sub := c.Text("subresource"); sub != "" {
		attributes["subresource"] = sub
	}
	if resource != "*" {
		m, err := c.Find(resource)
		switch {
		case err != nil:
			if !c.On("quiet") {
				c.Complain("Warning: the server doesn't have a resource type '%s'\n\n", resource)
			}
		default:
			attributes["group"], attributes["resource"] = m.Group, m.Resource
			if !m.Namespaced && !c.On("quiet") {
				inGroup := ""
				if m.Group != "" {
					inGroup = " in group '" + m.Group + "'"
				}
				c.Complain("Warning: resource '%s' is not namespace scoped%s\n\n", m.Resource, inGroup)
			}
		}
	} else {
		attributes["group"] = "*"
	}
	if !c.On("all-namespaces") {
		attributes["namespace"] = c.Namespace
	}
	return attributes
}

// allowedRules prints the rules that apply to the user in the namespace (kubectl auth can-i --list).
func (c *call) allowedRules() error {
	answer, err := review(c.Client, "authorization.k8s.io", "SelfSubjectRulesReview", map[string]any{"namespace": c.Namespace})
	if err != nil {
		return err
	}
	var body [][]string
	for _, rule := range answer.Objects("status", "resourceRules") {
		for _, g := range rule.Strings("apiGroups") {
			for _, r := range rule.Strings("resources") {
				base, sub, has := strings.Cut(r, "/")
				name := client.JoinGroup(base, g)
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
	c.printTable([]string{"Resources", "Non-Resource URLs", "Resource Names", "Verbs"}, append(body, urls...))
	return nil
}
