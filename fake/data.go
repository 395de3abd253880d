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
	torn   string // why the file's end was discarded when it was opened, or ""

	ended   sync.WaitGroup // waits for keepUp
	lost    chan struct{}  // closed when the journal has an error
	losing  sync.Once
	close   sync.Once
	closing error // the error of close
}

// dataFile is the file in the folder Options.Data.
const dataFile = "cluster.archive"

// overData starts a server on the folder Options.Data.
func (o *setup) overData() (*Server, error) {
	if err := os.MkdirAll(o.Data, 0o700); err != nil {
		return nil, fmt.Errorf("kubesim: Options.Data: %w", err)
	}
	j, a, err := openJournal("Data", filepath.Join(o.Data, dataFile), false)
	if err != nil {
		return nil, err
	}
	var srv *Server
	if a == nil {
		srv, err = o.fresh()
	} else {
		srv, err = o.resume(a)
	}
	if err != nil {
		return nil, errors.Join(err, j.Journal.Close())
	}
	return srv.keep(j)
}

// resume starts new API servers, with these options, on the state of an archive.
func (o *setup) resume(a *archive.Archive) (*Server, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	cluster, err := sim.Resume(a.State(), o.Options)
	if err != nil {
		return nil, err
	}
	return o.serve(cluster), nil
}

// overArchive starts a server on the file Options.Archive.
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

// keep makes j the server's journal.
func (s *Server) keep(j *journal) (*Server, error) {
	s.journal = j
	if err := j.rewrite(s.cluster); err != nil {
		s.Close()
		return nil, err
	}
	return s.prepared()
}

// rewrite begins the journal again, because the stored state does not follow from the journal's contents. A nil journal does nothing.
func (j *journal) rewrite(c *sim.Cluster) error {
	if j == nil {
		return nil
	}
	if err := j.Keep(c); err != nil {
		return fmt.Errorf("kubesim: Options.%s: %w", j.option, err)
	}
	return nil
}

// keepUpEvery is the interval at which the server checks its journal, in real time.
const keepUpEvery = time.Second

// keepUp compacts the journal when it has grown, and closes lost when the journal has an error, until life ends.
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

// finish closes the journal. The journal of Options.Archive ends with the complete server, including its caches. A nil journal does
// nothing.
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

// DataError returns why commits could not be written to Options.Data or Options.Archive. It returns nil if each commit was written
// before any client could observe it.
func (s *Server) DataError() error {
	if s.journal == nil {
		return nil
	}
	if err := s.journal.Err(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return s.journal.closing
}

// DataLost returns a channel that is closed when DataError has an error of Options.Archive while the server runs.
func (s *Server) DataLost() <-chan struct{} {
	if s.journal == nil {
		return nil
	}
	return s.journal.lost
}

// DataTorn returns where and why the file of Options.Data or Options.Archive ended early when the server started, because the machine
// or the process ended during a write. The server continues from the last complete commit and keeps the file as FILE.torn. If the file
// was complete, DataTorn returns "".
func (s *Server) DataTorn() string {
	if s.journal == nil {
		return ""
	}
	return s.journal.torn
}
