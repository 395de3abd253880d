package archive

import (
	"errors"
	"fmt"
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

// Journal keeps what a cluster stores in a folder, so that it outlives the process however that ends. Each Keep begins a
// generation of two files:
//
//	000002.archive   the cluster when Keep began
//	000002.log       each commit since, written before anybody knows of it: sets, as in an archive, of
//	    put:REV      time in nanoseconds since 1970, key, value
//	    delete:REV   time, key
//	    lease:REV    when what was put at REV ends, key
//
// The newest generation that has its archive counts, and the archive comes last: a process that ends while Keep writes
// leaves what there was before. What the operating system has taken over is safe from the end of the process, not from
// that of the machine.
type Journal struct {
	dir        string
	generation int // that counts; 0: none yet

	mu  sync.Mutex
	log *os.File // nil before Keep
	buf []byte
	err error // the first that the log met: it ends there
}

// file is the path of one of a generation's two files: kind is archive or log.
func (j *Journal) file(generation int, kind string) string {
	return filepath.Join(j.dir, fmt.Sprintf("%06d.%s", generation, kind))
}

// OpenJournal opens the journal in a folder, which is made unless it is there, and returns the state that it leads to:
// nil for a new one. A commit that was being written when the process ended is left out.
func OpenJournal(dir string) (*Journal, *sim.State, error) {
	j := &Journal{dir: dir}
	state, err := j.open()
	if err != nil {
		return nil, nil, fmt.Errorf("archive: the journal in %s: %w", dir, err)
	}
	return j, state, nil
}

func (j *Journal) open() (*sim.State, error) {
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		return nil, err
	}
	archives, err := filepath.Glob(filepath.Join(j.dir, "*.archive"))
	if err != nil {
		return nil, err
	}
	for _, path := range archives {
		if n, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(path), ".archive")); err == nil && j.file(n, "archive") == path {
			j.generation = max(j.generation, n)
		}
	}
	if j.generation == 0 {
		return nil, nil
	}
	a, err := Open(j.file(j.generation, "archive"))
	if err != nil {
		return nil, err
	}
	log, err := os.ReadFile(j.file(j.generation, "log"))
	if err != nil {
		return nil, err
	}
	state := a.State()
	return state, replay(state, log)
}

// Keep writes what the cluster is now and, from now on, each commit. What the folder held before is removed when that is
// written.
func (j *Journal) Keep(c *sim.Cluster) error {
	if err := j.begin(c); err != nil {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.err = fmt.Errorf("archive: the journal in %s: %w", j.dir, err)
		return j.err
	}
	return nil
}

// begin begins the next generation.
func (j *Journal) begin(c *sim.Cluster) error {
	next := j.generation + 1
	log, err := os.OpenFile(j.file(next, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	j.mu.Lock()
	old := j.log
	j.log, j.err = log, nil
	j.mu.Unlock()
	if err := save(j.file(next, "archive"), c.Keep(j)); err != nil {
		return err
	}
	last := j.generation
	j.generation = next
	if old != nil {
		err = old.Close()
	}
	for _, kind := range []string{"archive", "log"} { // without its archive, the log of a last generation counts for nothing
		err = errors.Join(err, ignoreMissing(os.Remove(j.file(last, kind))))
	}
	return err
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

// replay makes a state what the log says.
func replay(s *sim.State, data []byte) error {
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
	if next := s.Store.Rev() + 1; rev != next {
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
