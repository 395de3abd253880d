package replica

import (
	"slices"

	"github.com/kubesim/kubesim/sim/config"
)

// peerNumber is the number of each copy of a peer. It is not observed, and has no faults.
const peerNumber = 0

// SetPeers replaces the copies of API servers in other processes. A copy serves the requests that the server of the other process
// would serve, so that PeerProxy needs no connection to it. It returns an error if an option of a peer is invalid.
func (s *Set) SetPeers(peers []config.Peer) error {
	if !slices.ContainsFunc(s.list, func(r *Server) bool { return r.profile.proxies }) {
		return nil
	}
	var options []config.Server
	for _, p := range peers {
		options = append(options, p.Server)
	}
	var copies []*Server
	if len(options) > 0 {
		profiles, err := Profiles(options, true)
		if err != nil {
			return err
		}
		for _, p := range profiles {
			copies = append(copies, newServer(s, peerNumber, p))
		}
	}
	s.peers = copies
	for _, r := range copies {
		r.restartAt(s.Log().Newest())
	}
	s.Rediscover()
	return nil
}

// all returns the servers of the cluster and the copies of its peers.
func (s *Set) all() []*Server { return append(slices.Clip(s.list), s.peers...) }
