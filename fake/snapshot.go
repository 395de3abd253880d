package fake

import (
	"bytes"
	"fmt"

	"github.com/kubesim/kubesim/sim/archive"
)

// Snapshot returns the server and its history as the contents of a file, for Options.Snapshot, for `kubesim serve
// --archive`, or for package archive, which can also open it at an older revision. The snapshot does not contain open
// watches, waiting requests and registered functions.
func (s *Server) Snapshot() ([]byte, error) {
	var b bytes.Buffer
	if err := archive.Write(&b, s.cluster); err != nil {
		return nil, fmt.Errorf("kubesim: snapshot: %w", err)
	}
	return b.Bytes(), nil
}

// Save writes a snapshot to a file, which it replaces atomically. If that fails, an existing file is unchanged.
func (s *Server) Save(path string) error {
	if err := archive.Save(path, s.cluster); err != nil {
		return fmt.Errorf("kubesim: %w", err)
	}
	return nil
}

// load starts a server from Options.Snapshot. It returns an error if the snapshot cannot be read, or if from returns one.
func (o setup) load() (*Server, error) {
	a, err := archive.Read(bytes.NewReader(o.Snapshot))
	if err != nil {
		return nil, fmt.Errorf("kubesim: snapshot: %w", err)
	}
	s, err := o.from(a)
	if err != nil {
		return nil, fmt.Errorf("kubesim: snapshot: %w", err)
	}
	return s.prepared()
}

// from returns a server with the state and the saved options of an archive. It returns an error if the clock is behind
// the archive's time.
func (o setup) from(a *archive.Archive) (*Server, error) {
	if o.Clock != nil && o.Clock.Now().Before(a.Info().Time) {
		return nil, fmt.Errorf("its time is %v, but the clock is at %v: a clock must not be behind an archive", a.Info().Time, o.Clock.Now())
	}
	c, err := a.ClusterOn(o.Clock)
	if err != nil {
		return nil, err
	}
	saved := o.Saved(a.Info().Options)
	if saved.ClientCA == nil {
		saved.ClientCA = o.ClientCA
	}
	o.Options = saved
	if err := o.readFiles(); err != nil {
		return nil, err
	}
	return o.serve(c), nil
}

// LoadSnapshot returns the server to the state of a snapshot of itself, or of a server with the same number of replicas. Open
// watches end. A manual clock that is behind the snapshot's time advances to it; any other clock must not be behind it.
// LoadSnapshot returns an error if the snapshot does not fit the server.
func (s *Server) LoadSnapshot(snapshot []byte) error {
	a, err := archive.Read(bytes.NewReader(snapshot))
	if err == nil {
		err = s.cluster.LoadState(a.State())
	}
	if err == nil {
		err = s.journal.rewrite(s.cluster)
	}
	if err != nil {
		return fmt.Errorf("kubesim: snapshot: %w", err)
	}
	return nil
}
