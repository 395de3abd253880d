package fake

import "github.com/kubesim/kubesim/sim"

// Shared connects the store of a Server to its copies in other processes, like API servers over one etcd.
type Shared = sim.Shared

// Share connects the server's store to x from now on. It publishes the commits that this process has made since it read its data. It
// is for package dropin.
func (s *Server) Share(x Shared) error { return s.cluster.Share(x, s.loaded) }

// Yield calls f when no request is being processed (sim.Cluster.Yield).
func (s *Server) Yield(f func()) { s.cluster.Yield(f) }

// CatchUp applies the changes of other processes, and returns the newest revision.
func (s *Server) CatchUp() uint64 { return s.cluster.Revision() }

// SetPeers replaces the API servers in other processes that share the store.
func (s *Server) SetPeers(peers []sim.Peer) error { return s.cluster.SetPeers(peers) }

// Leave removes the addresses of this process's API servers from the endpoints of the Service kubernetes, if no other server would.
func (s *Server) Leave() { s.cluster.Leave() }

// Lead takes over from a process that has ended: it writes the server's data to the directory Options.Data from now on, and starts the
// controllers and kubelets. It is for a server with Options.DataReadOnly and Options.Standby. It returns an error if the file cannot be
// written.
func (s *Server) Lead() error {
	s.cluster.Lead()
	return s.journal.rewrite(s.cluster)
}
