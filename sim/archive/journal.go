package archive

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
)

// Journal keeps what a cluster stores in a folder, so that it outlives the process however that ends:
//
//	kubesim.archive   the cluster when Keep began
//	kubesim.log       each commit since, written before anybody knows of it: sets, as in an archive, of
//	    put:REV       time in nanoseconds since 1970, key, value
//	    delete:REV    time, key
//	    lease:REV     when what was put at REV ends, key
//
// What the operating system has taken over is safe from the end of the process, not from that of the machine.
type Journal struct {
	dir string

	mu  sync.Mutex
	log *os.File
	buf []byte
	err error // the first that the log met: it ends there
}

const (
	baseName = "kubesim.archive"
	logName  = "kubesim.log"
)

// OpenJournal opens the journal in a folder, which is made unless it is there, and returns the state that it leads to:
// nil for a new one. A commit that was being written when the process ended is left out.
func OpenJournal(dir string) (*Journal, *sim.State, error) {
	j := &Journal{dir: dir}
	state, err := j.open()
	if err != nil {
		_ = j.Close() // nothing was written
		return nil, nil, fmt.Errorf("archive: the journal in %s: %w", dir, err)
	}
	return j, state, nil
}

func (j *Journal) open() (*sim.State, error) {
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		return nil, err
	}
	var err error
	if j.log, err = os.OpenFile(filepath.Join(j.dir, logName), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600); err != nil {
		return nil, err
	}
	a, err := Open(filepath.Join(j.dir, baseName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	state := a.State()
	return state, j.replay(state)
}

// Keep writes what the cluster is now and, from now on, each commit. What the folder held before is replaced.
func (j *Journal) Keep(c *sim.Cluster) error {
	j.mu.Lock()
	j.err = j.log.Truncate(0)
	j.mu.Unlock()
	if err := errors.Join(j.Err(), save(filepath.Join(j.dir, baseName), c.Keep(j))); err != nil {
		return fmt.Errorf("archive: the journal in %s: %w", j.dir, err)
	}
	return nil
}

// Err returns the error that ended the log, if any.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// Close closes the journal: what the cluster stores from now on is not kept.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.log == nil {
		return nil
	}
	if j.err == nil {
		j.err = os.ErrClosed
	}
	return j.log.Close()
}

// Commit is sim.Journal's.
func (j *Journal) Commit(e *mvcc.Event, at time.Time) {
	if e.KV == nil {
		j.append("delete", e.Rev, at, e.Key, nil)
		return
	}
	j.append("put", e.Rev, at, e.Key, e.KV.Value)
}

// Grant is sim.Journal's.
func (j *Journal) Grant(l sim.Lease) { j.append("lease", l.Rev, l.At, l.Key, nil) }

// append writes one set to the log.
func (j *Journal) append(kind string, rev uint64, at time.Time, key string, value []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return
	}
	head := strconv.FormatInt(at.UnixNano(), 10) + " " + strconv.Quote(key) + " "
	name := numbered(kind, rev)
	j.buf = fmt.Appendf(j.buf[:0], "*3\r\n$3\r\nset\r\n$%d\r\n%s\r\n$%d\r\n%s", len(name), name, len(head)+len(value), head)
	j.buf = append(append(j.buf, value...), "\r\n"...)
	_, j.err = j.log.Write(j.buf)
}

// replay makes a state what the log says. Sets that the state has already, from a Keep that was cut short, are left out.
func (j *Journal) replay(s *sim.State) error {
	data, err := io.ReadAll(io.LimitReader(j.log, sizeMax))
	if err != nil {
		return err
	}
	for len(data) > 0 {
		key, value, rest, ok := cutSet(data)
		if !ok {
			return nil // the end: what was being written
		}
		if err := replayed(s, string(key), string(value)); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		data = rest
	}
	return nil
}

// cutSet cuts one set off data.
func cutSet(data []byte) (key, value, rest []byte, ok bool) {
	rest, ok = strip(data)
	if ok {
		key, rest, ok = bulk(rest)
	}
	if ok {
		value, rest, ok = bulk(rest)
	}
	return key, value, rest, ok
}

// replayed does what a set of the log says.
func replayed(s *sim.State, name, value string) error {
	kind, number, _ := strings.Cut(name, ":")
	rev, err := strconv.ParseUint(number, 10, 64)
	nanos, text, _ := strings.Cut(value, " ")
	ns, err2 := strconv.ParseInt(nanos, 10, 64)
	key, rest, err3 := cutKey(text)
	if err := errors.Join(err, err2, err3); err != nil {
		return err
	}
	at := time.Unix(0, ns).In(s.Now.Location())
	if kind == "lease" {
		s.Leases = append(s.Leases, sim.Lease{Key: key, Rev: rev, At: at})
		return nil
	}
	next := s.Store.Rev() + 1
	if rev < next {
		return nil
	}
	if rev > next {
		return fmt.Errorf("the commit of revision %d is missing", next)
	}
	switch kind {
	case "put":
		if _, err := object.Parse([]byte(rest)); err != nil {
			return fmt.Errorf("the value of %s is no object: %w", key, err)
		}
		s.Store.Put(key, []byte(rest), nil)
	case "delete":
		if _, ok := s.Store.Delete(key); !ok {
			return fmt.Errorf("%s is deleted, and was not there", key)
		}
	default:
		return fmt.Errorf("%q is neither put, delete nor lease", kind)
	}
	if at.After(s.Now) {
		s.Now = at
	}
	s.Marks = append(s.Marks, sim.Mark{Rev: rev, At: at})
	return nil
}
