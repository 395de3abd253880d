package fake

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/archive"
)

// journal is the file to which a server writes its commits.
type journal struct {
	*archive.Journal
	option string // the option that sets the file
	torn   string // why the end of the file was discarded when it was opened, or ""

	ended   sync.WaitGroup // waits for keepUp
	lost    chan struct{}  // closed when the journal has an error
	losing  sync.Once
	close   sync.Once
	closing error // the error of closing the file
}

// dataFile is the name of the file in the directory Options.Data.
const dataFile = "cluster.archive"

// overData starts a server that keeps its data in the directory Options.Data. If the directory contains data, the
// server continues with it. It returns an error if the directory cannot be created or the data cannot be read.
func (o *setup) overData() (*Server, error) {
	if err := os.MkdirAll(o.Data, 0o700); err != nil {
		return nil, fmt.Errorf("kubesim: Options.Data: %w", err)
	}
	j, a, err := openJournal("Data", filepath.Join(o.Data, dataFile), false)
	if err != nil {
		return nil, err
	}
	var srv *Server
	var loaded uint64
	if a == nil {
		srv, err = o.fresh()
	} else {
		loaded = a.Info().Newest
		srv, err = o.resume(a.State())
	}
	if err != nil {
		return nil, errors.Join(err, j.Journal.Close())
	}
	if srv.loaded = loaded; loaded == 0 {
		srv.loaded = srv.Revision()
	}
	if o.DataReadOnly {
		srv.journal = j
		return srv.prepared()
	}
	return srv.keep(j)
}

// resume starts new API servers with these options over a state.
func (o *setup) resume(state *sim.State) (*Server, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	cluster, err := sim.Resume(state, o.Options)
	if err != nil {
		return nil, err
	}
	return o.serve(cluster), nil
}

// overArchive starts a server that keeps its state in the file Options.Archive. If the file exists, the server
// continues from it.
func (o *setup) overArchive() (*Server, error) {
	file, always := o.Archive, o.ArchiveSync
	j, a, err := openJournal("Archive", file, always)
	if err != nil {
		return nil, err
	}
	var s *Server
	if a != nil {
		s, err = o.from(a)
	} else {
		s, err = o.fresh()
	}
	if err != nil {
		return nil, fmt.Errorf("kubesim: Options.Archive: %s: %w", file, errors.Join(err, j.Journal.Close()))
	}
	if s, err = s.keep(j); err != nil {
		return nil, err
	}
	j.ended.Go(func() { j.keepUp(s.life, s.cluster) })
	return s, nil
}

func openJournal(option, path string, always bool) (*journal, *archive.Archive, error) {
	opened, a, err := archive.OpenJournal(path, always)
	if err != nil {
		return nil, nil, fmt.Errorf("kubesim: Options.%s: %w", option, err)
	}
	j := &journal{Journal: opened, option: option, lost: make(chan struct{})}
	if a != nil {
		j.torn = a.Info().Torn
	}
	return j, a, nil
}

// keep makes j the server's journal and writes the current state to it. If that fails, keep closes the server.
func (s *Server) keep(j *journal) (*Server, error) {
	s.journal = j
	if err := j.rewrite(s.cluster); err != nil {
		s.Close()
		return nil, err
	}
	return s.prepared()
}

// rewrite replaces the contents of the journal by the stored state. It must be called whenever the state is replaced
// (Reset, Restore, LoadSnapshot), because the commits in the journal do not lead to the new state. It is a no-op if j is nil.
func (j *journal) rewrite(c *sim.Cluster) error {
	if j == nil {
		return nil
	}
	if err := j.Keep(c); err != nil {
		return fmt.Errorf("kubesim: Options.%s: %w", j.option, err)
	}
	return nil
}

// keepUpEvery is the interval, in real time, at which the server checks its journal.
const keepUpEvery = time.Second

// keepUp compacts the journal whenever it has grown too much, until life is done. It closes lost if the journal has an error.
func (j *journal) keepUp(life context.Context, c *sim.Cluster) {
	ticker := time.NewTicker(keepUpEvery)
	defer ticker.Stop()
	for {
		select {
		case <-life.Done():
			return
		case <-ticker.C:
		}
		err := j.Err()
		if err == nil && j.Grown() {
			err = j.Keep(c)
		}
		if err != nil {
			j.losing.Do(func() { close(j.lost) })
		}
	}
}

// finish closes the journal. For Options.Archive, it first writes the complete server, including its caches. It is a
// no-op if j is nil.
func (j *journal) finish(c *sim.Cluster) {
	if j == nil {
		return
	}
	j.close.Do(func() {
		j.ended.Wait()
		if j.option == "Archive" {
			j.closing = j.Keep(c)
		}
		j.closing = errors.Join(j.closing, j.Journal.Close())
	})
}

// DataError returns the reason why commits could not be written to Options.Data or Options.Archive. It returns nil if
// each commit was written before any client could observe it.
func (s *Server) DataError() error {
	if s.journal == nil {
		return nil
	}
	if err := s.journal.Err(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return s.journal.closing
}

// DataLost returns a channel that is closed when an error of Options.Archive occurs while the server runs: see
// DataError.
func (s *Server) DataLost() <-chan struct{} {
	if s.journal == nil {
		return nil
	}
	return s.journal.lost
}

// DataTorn returns where and why the file of Options.Data or Options.Archive was incomplete when the server started,
// because the machine or the process had stopped during a write. The server continues from the last complete commit and
// keeps the old file as FILE.torn. If the file was complete, DataTorn returns "".
func (s *Server) DataTorn() string {
	if s.journal == nil {
		return ""
	}
	return s.journal.torn
}
