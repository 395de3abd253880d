package kubectl

// Config is what kubectl knows of servers and users (kubeconfig, with one cluster and one user).
type Config struct {
	Server   string // its URL
	Cluster  string
	User     string
	Current  string // the name of the context in use
	Contexts []Context
	// Save writes the Config to where it is from. If it is nil, changes stay in the Config.
	Save func() error
}

// Context is a cluster, somebody who asks, and a namespace.
type Context struct {
	Name, Cluster, User, Namespace string
}

// context returns the context of a name, "" for the one in use; nil: there is none.
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

// namespace returns that of a context.
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
