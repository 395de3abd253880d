package sim

import (
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/replica"
)

// Manifest is a document of a file with webhook configurations or admission policies.
type Manifest = replica.Manifest

// SetAuthorizers replaces the authorizers of all API servers (Options.Authorization.Chain). They must be valid.
func (c *Cluster) SetAuthorizers(chain []auth.Link) {
	c.do(func() { c.servers.SetAuthorizers(chain) })
}

// SetManifests replaces the webhook configurations, policies or bindings of an admission plugin that come from files
// (staticManifestsDir, KEP-5793). They are not objects of the API. It returns an error, and changes nothing, if one is invalid.
func (c *Cluster) SetManifests(plugin string, documents []Manifest) (err error) {
	c.do(func() { err = c.servers.SetManifests(plugin, documents) })
	return err
}
