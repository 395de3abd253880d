package fake

import (
	"fmt"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/archive"
)

// overData starts a server over the folder Options.Data.
func (o *Options) overData() (*Server, error) {
	j, state, err := archive.OpenJournal(o.Data)
	if err != nil {
		return nil, fmt.Errorf("kubesim: Options.Data: %w", err)
	}
	var cluster *sim.Cluster
	if state == nil {
		cluster, err = sim.New(o.clusterOptions())
	} else {
		cluster, err = sim.Resume(state, o.clusterOptions())
	}
	if err != nil {
		_ = j.Close() // nothing was written
		return nil, err
	}
	s := o.serve(cluster)
	s.journal = j
	if err := s.rewriteJournal(); err != nil {
		s.Close()
		return nil, err
	}
	return s.prepared()
}

// rewriteJournal begins the journal anew: what is stored now does not follow from what is in it.
func (s *Server) rewriteJournal() error {
	if s.journal == nil {
		return nil
	}
	if err := s.journal.Keep(s.cluster); err != nil {
		return fmt.Errorf("kubesim: Options.Data: %w", err)
	}
	return nil
}

// DataError returns why not all that is stored was written to Options.Data. nil: all was, before anybody knew of it.
func (s *Server) DataError() error {
	if s.journal == nil {
		return nil
	}
	return s.journal.Err()
}
