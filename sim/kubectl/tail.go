package kubectl

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// tailWords are about kubectl itself.
var tailWords = []word{
	{name: "config", help: "Modify kubeconfig files", sub: []word{
		{name: "current-context", help: "Display the current-context", run: func(c *call) error {
			if c.Config.Current == "" {
				return fmt.Errorf("current-context is not set")
			}
			c.printf("%s\n", c.Config.Current)
			return nil
		}},
		{name: "get-clusters", help: "Display clusters defined in the kubeconfig", run: func(c *call) error {
			c.printf("NAME\n%s\n", c.Config.Cluster)
			return nil
		}},
		{name: "get-contexts", help: "Describe one or many contexts", run: (*call).getContexts, flags: "no-headers? output|o"},
		{name: "get-users", help: "Display users defined in the kubeconfig", run: func(c *call) error {
			c.printf("NAME\n%s\n", c.Config.User)
			return nil
		}},
		{name: "set-context", help: "Set a context entry in kubeconfig", run: (*call).setContext, flags: "current?"},
		{name: "use-context", aliases: "use", help: "Set the current-context in a kubeconfig file", run: (*call).useContext},
		{name: "view", help: "Display merged kubeconfig settings or a specified kubeconfig file", run: (*call).viewConfig, flags: "flatten? merge? minify? raw?" + printed},
	}},
	{name: "options", help: "Print the list of flags inherited by all commands", run: func(c *call) error {
		c.printf("The following options can be passed to any command:\n\n")
		for _, f := range flagsOf(everywhere) {
			c.printf("    %s\n", f.named())
		}
		return nil
	}},
	{name: "kustomize", help: "Build a kustomization target from a directory or URL", run: func(*call) error {
		return notHere("build with the real kustomize, and apply what it prints")
	}},
	{name: "proxy", help: "Run a proxy to the Kubernetes API server", run: func(*call) error { return notHere("there is no port here to listen on") }},
	{name: "plugin", help: "Provides utilities for interacting with plugins", run: func(*call) error { return notHere("there are no plugins here") }},
	{name: "completion", help: "Output shell completion code for the specified shell", run: func(*call) error {
		return notHere("the line that you type is completed already")
	}},
}

func (c *call) getContexts() error {
	rows := [][]string{{"CURRENT", "NAME", "CLUSTER", "AUTHINFO", "NAMESPACE"}}
	if c.on("no-headers") {
		rows = nil
	}
	for _, x := range c.Config.Contexts {
		if len(c.args) > 0 && c.args[0] != x.Name {
			continue
		}
		if c.text("output") == "name" {
			c.printf("%s\n", x.Name)
			continue
		}
		star := ""
		if x.Name == c.Config.Current {
			star = "*"
		}
		rows = append(rows, []string{star, x.Name, x.Cluster, x.User, x.Namespace})
	}
	if c.text("output") != "name" {
		c.table(rows)
	}
	return nil
}

func (c *call) setContext() error {
	name := ""
	if len(c.args) > 0 {
		name = c.args[0]
	}
	if name == "" && !c.on("current") {
		return c.usage("you must specify a non-empty context name or --current")
	}
	x, done := c.Config.context(name), "modified"
	if x == nil {
		c.Config.Contexts = append(c.Config.Contexts, Context{Name: name, Cluster: c.text("cluster"), User: c.text("user")})
		x, done = &c.Config.Contexts[len(c.Config.Contexts)-1], "created"
	}
	if c.given("namespace") {
		x.Namespace = c.text("namespace")
	}
	c.printf("Context %q %s.\n", x.Name, done)
	return c.saved()
}

func (c *call) saved() error {
	if c.Config.Save == nil {
		return nil
	}
	return c.Config.Save()
}

func (c *call) useContext() error {
	if len(c.args) != 1 {
		return c.usage("Unexpected args: %v", c.args)
	}
	if c.Config.context(c.args[0]) == nil {
		return fmt.Errorf("no context exists with the name: %q", c.args[0])
	}
	c.Config.Current = c.args[0]
	c.printf("Switched to context %q.\n", c.args[0])
	return c.saved()
}

func (c *call) viewConfig() error {
	var contexts []any
	for _, x := range c.Config.Contexts {
		if c.on("minify") && x.Name != c.Config.Current {
			continue
		}
		in := map[string]any{"cluster": x.Cluster, "user": x.User}
		if x.Namespace != "" {
			in["namespace"] = x.Namespace
		}
		contexts = append(contexts, map[string]any{"name": x.Name, "context": in})
	}
	obj := object.Object{"apiVersion": "v1", "kind": "Config", "current-context": c.Config.Current, "contexts": contexts,
		"clusters": []any{map[string]any{"name": c.Config.Cluster, "cluster": map[string]any{"server": c.Config.Server}}},
		"users":    []any{map[string]any{"name": c.Config.User, "user": map[string]any{}}}}
	if strings.HasPrefix(c.text("output"), "jsonpath") || c.text("output") == "json" {
		return c.said(&target{obj: obj}, "")
	}
	c.printf("%s", yaml(object.JSON(map[string]any(obj))))
	return nil
}
