package apiserver

// rerouted marks a request that comes from another server: it is not passed on once more (KEP-4020).
const rerouted = "X-Kubernetes-Apiserver-Rerouted"

// reroute passes a request for a resource that this server does not serve on to one that does, as servers of different
// versions do for each other (KEP-4020, mixed version proxy). The user has been let through here, and is asked for again
// there. It reports false when nobody serves it, or the request was passed on before.
func (c *call) reroute() bool {
	in := &c.info
	if c.s.Peer == nil || c.q.Header.Get(rerouted) != "" || c.s.Table.Find(in.group, in.version, in.resource) != nil {
		return false
	}
	peer := c.s.Peer(in.group, in.version, in.resource)
	if peer == nil {
		return false
	}
	q := *c.q
	q.Header = q.Header.Clone()
	q.Header.Set(rerouted, "true")
	q.Header["Audit-Id"] = c.header["Audit-Id"]
	peer.Do(&q, c.reply)
	return true
}
