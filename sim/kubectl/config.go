package kubectl

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/printer"
	"github.com/kubesim/kubesim/sim/object"
)

// Config is a kubeconfig with one cluster and one user.
type Config struct {
	Server   string // the server's URL
	Cluster  string
	User     string
	Current  string // the name of the context in use
	Contexts []Context
	// Save writes the Config to its source. If it is nil, changes are kept in memory only.
	Save func() error
}

// Context is a cluster, a user and a namespace.
type Context struct {
	Name, Cluster, User, Namespace string
}

// context returns the context with the given name, or the current context if name is empty. It returns nil if there is no such
// context.
func (c *Config) context(name string) *Context {
	if name == "" {
		name = c.Current
	}
	for i := range c.Contexts {
		if c.Contexts[i].Name == name {
			return &c.Contexts[i]
		}
	}
	return nil
}

// namespace returns the namespace of the named context, or "default" if the context sets none.
func (c *Config) namespace(context string) string {
	if x := c.context(context); x != nil && x.Namespace != "" {
		return x.Namespace
	}
	return "default"
}

func (c *Config) save() error {
	if c.Save == nil {
		return nil
	}
	return c.Save()
}

func runCurrentContext(c *call) error {
	if c.config.Current == "" {
		return fmt.Errorf("current-context is not set")
	}
	c.Printf("%s\n", c.config.Current)
	return nil
}

func runGetClusters(c *call) error {
	c.Printf("NAME\n%s\n", c.config.Cluster)
	return nil
}

func runGetUsers(c *call) error {
	c.Printf("NAME\n%s\n", c.config.User)
	return nil
}

func runGetContexts(c *call) error {
	var rows [][]string
	for _, x := range c.config.Contexts {
		if len(c.Args) > 0 && c.Args[0] != x.Name {
			continue
		}
		if c.Text("output") == "name" {
			c.Printf("%s\n", x.Name)
			continue
		}
		star := ""
		if x.Name == c.config.Current {
			star = "*"
		}
		rows = append(rows, []string{star, x.Name, x.Cluster, x.User, x.Namespace})
	}
	if c.Text("output") != "name" {
		c.printTable([]string{"CURRENT", "NAME", "CLUSTER", "AUTHINFO", "NAMESPACE"}, rows)
	}
	return nil
}

func runSetContext(c *call) error {
	name := ""
	if len(c.Args) > 0 {
		name = c.Args[0]
	}
	if name == "" && !c.On("current") {
		return c.usage("you must specify a non-empty context name or --current")
	}
	x, done := c.config.context(name), "modified"
	if x == nil {
		c.config.Contexts = append(c.config.Contexts, Context{Name: name, Cluster: c.Text("cluster"), User: c.Text("user")})
		x, done = &c.config.Contexts[len(c.config.Contexts)-1], "created"
	}
	if c.Given("namespace") {
		x.Namespace = c.Text("namespace")
	}
	c.Printf("Context %q %s.\n", x.Name, done)
	return c.config.save()
}

func runUseContext(c *call) error {
	if len(c.Args) != 1 {
		return c.usage("Unexpected args: %v", c.Args)
	}
	if c.config.context(c.Args[0]) == nil {
		return fmt.Errorf("no context exists with the name: %q", c.Args[0])
	}
	c.config.Current = c.Args[0]
	c.Printf("Switched to context %q.\n", c.Args[0])
	return c.config.save()
}

func runConfigView(c *call) error {
	var contexts []any
	for _, x := range c.config.Contexts {
		if c.On("minify") && x.Name != c.config.Current {
			continue
		}
		in := map[string]any{"cluster": x.Cluster, "user": x.User}
		if x.Namespace != "" {
			in["namespace"] = x.Namespace
		}
		contexts = append(contexts, map[string]any{"name": x.Name, "context": in})
	}
	obj := object.Object{"apiVersion": "v1", "kind": "Config", "current-context": c.config.Current, "contexts": contexts,
		"clusters": []any{map[string]any{"name": c.config.Cluster, "cluster": map[string]any{"server": c.config.Server}}},
		"users":    []any{map[string]any{"name": c.config.User, "user": map[string]any{}}}}
	if strings.HasPrefix(c.Text("output"), "jsonpath") || c.Text("output") == "json" {
		return c.printObj(&client.Info{Object: obj}, "")
	}
	c.Printf("%s", printer.YAML(json(obj)))
	return nil
}
