package apiserver

// rerouted marks a request that comes from another server: it is not passed on again (KEP-4020).
const rerouted = "X-Kubernetes-Apiserver-Rerouted"

// reroute passes a request for a resource that this server does not serve on to one that does, as servers of different versions do
// for each other (KEP-4020, mixed version proxy). The user is authorized here and again there. It reports false if no server serves
// the resource, or the request was passed on before.
func (e *Exchange) reroute() bool {
	in := &e.info
	if e.Header.Get(rerouted) != "" || e.s.Table.Find(in.Group, in.Version, in.Resource) != nil {
		return false
	}
	peer := e.s.Host.Peer(in.Group, in.Version, in.Resource)
	if peer == nil {
		return false
	}
	q := *e.Request
	q.Header = q.Header.Clone()
	q.Header.Set(rerouted, "true")
	q.Header["Audit-Id"] = e.head["Audit-Id"]
	peer.Do(&q, e.reply)
	return true
}
