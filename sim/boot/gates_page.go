//go:build js

package boot

import "github.com/kubesim/kubesim/sim/resource"

// ChangesRoles returns nil, because feature gates do not change the default roles in a web page.
func ChangesRoles(string, resource.Gates) []string { return nil }

// gated returns the objects.
func (o Options) gated(all []own) []own { return all }
