//go:build page

package auth

import "github.com/kubesim/kubesim/sim/resource"

// byNode grants no rights. The clusters of the web page have no mode Node.
func (a *Auth) byNode(Attributes, resource.Reader) (allowed bool, reason string) { return false, "" }
