package archive

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/history"
	"github.com/kubesim/kubesim/sim/mvcc"
)

// Journal keeps what a cluster stores in a file, so that it outlives the process however that ends:
//
//	the cluster when Keep began   an archive
//	~log
//	put:REV                       each commit since, written before anybody knows of it:
//	delete:REV                    checksum, time in nanoseconds since 1970, key, and what was put
//	lease:REV                     when what was put at REV ends
//	compact:REV                   when everything before REV was forgotten
//
// It is an append-only file of buntdb as an archive is, and Read reads it. What the operating system has taken over is safe
// from the end of the process; from that of the machine only what Sync, or Always, has brought to the disk. Keep begins a file
// anew, beside the old one, whose place it takes as a whole:
//
//	commits ─▶ FILE ───────────────────────────────┐
//	       └─▶ late, while Keep writes FILE.part ──┴─▶ appended to it ─▶ renamed to FILE
type Journal struct {
	path   string
	always bool // each commit is on the disk before anybody knows of it
	torn   bool // FILE was, when it was opened

	keeping sync.Mutex // held by Keep

	mu    sync.Mutex
	file  *os.File // nil before Keep
	base  int64    // size of its archive
	size  int64
	dirty bool   // something was written since Sync
	late  []byte // nil: Keep is not writing
	buf   []byte
	err   error // the first that the log met: it ends there
}

// OpenJournal opens the journal in a file and what it holds: nil for one that is not there yet. always says that each commit
// is to be on the disk before anybody knows of it (fsync); otherwise Sync sees to that.
func OpenJournal(path string, always bool) (*Journal, *Archive, error) {
	j := &Journal{path: path, always: always}
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return j, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("archive: %w", err)
	}
	a, err := parse(data)
	if err != nil {
		return nil, nil, fmt.Errorf("archive: %s: %w", path, err)
	}
	j.torn = a.info.Torn != ""
	return j, a, nil
}

// Keep writes what the cluster is now and, from now on, each commit. A torn file stays beside the new one as FILE.torn.
func (j *Journal) Keep(c *sim.Cluster) error {
	j.keeping.Lock()
	defer j.keeping.Unlock()
	err := j.begin(c)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.late = nil
	if err != nil {
		j.err = fmt.Errorf("archive: %s: %w", j.path, err)
		return j.err
	}
	return nil
}

// begin writes a new file and lets it take the place of the old one.
func (j *Journal) begin(c *sim.Cluster) error {
	j.mu.Lock()
	j.late = []byte{}
	j.mu.Unlock()
	state := c.Keep(j)
	var b bytes.Buffer
	if err := writeState(&b, state); err != nil {
		return err
	}
	b.WriteString(logBegin)
	part, err := os.OpenFile(j.path+".part", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600) // it may hold tokens and secrets
	if err != nil {
		return err
	}
	if _, err = part.Write(b.Bytes()); err == nil {
		err = part.Sync()
	}
	if err == nil {
		err = j.replace(part, int64(b.Len()), state.History.Store.Rev())
	}
	if err != nil {
		return errors.Join(err, part.Close(), ignoreMissing(os.Remove(j.path+".part")))
	}
	return nil
}

// replace adds to a new file what was committed since the revision that it holds, and lets it take the place of the old one.
func (j *Journal) replace(part *os.File, base int64, held uint64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	late := after(j.late, held)
	if _, err := part.Write(late); err != nil {
		return err
	}
	if err := part.Sync(); err != nil {
		return err
	}
	if j.torn {
		if err := errors.Join(ignoreMissing(os.Remove(j.path+".torn")), os.Link(j.path, j.path+".torn")); err != nil {
			return err
		}
		j.torn = false
	}
	if err := os.Rename(j.path+".part", j.path); err != nil {
		return err
	}
	old := j.file
	j.file, j.base, j.size, j.dirty, j.err = part, base, base+int64(len(late)), false, nil
	if old != nil {
		_ = old.Close() // nobody needs it any more
	}
	if folder, err := os.Open(filepath.Dir(j.path)); err == nil { // the new name is to be on the disk, where the system can do that
		_ = folder.Sync()
		_ = folder.Close()
	}
	return nil
}

// after returns of a log what is not in a state at a revision: commits and leases after it. What was forgotten since is
// in it, too, or is no harm.
func after(log []byte, held uint64) (late []byte) {
	for len(log) > 0 {
		name, _, rest, ok := cutSet(log)
		kind, number, _ := strings.Cut(string(name), ":")
		if rev, err := strconv.ParseUint(number, 10, 64); !ok || err != nil || rev > held || kind == "compact" {
			late = append(late, log[:len(log)-len(rest)]...)
		}
		log = rest
	}
	return late
}

// growth is how large a log becomes, at least, before it is worth writing the file anew.
const growth = 32 << 20

// Grown reports whether the log is larger than it need be: Keep makes it smaller.
func (j *Journal) Grown() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.size-j.base > max(growth, j.base)
}

// Sync brings to the disk what has been written. Commits go on meanwhile.
func (j *Journal) Sync() error {
	j.mu.Lock()
	file, dirty := j.file, j.dirty
	j.dirty = false
	j.mu.Unlock()
	if !dirty {
		return nil
	}
	err := file.Sync()
	j.mu.Lock()
	defer j.mu.Unlock()
	if err != nil && j.file == file && j.err == nil {
		j.err = fmt.Errorf("archive: %w", err)
	}
	return j.err
}

// Err returns the error that ended the log, if any.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// Close brings everything to the disk and closes the journal: what the cluster stores from now on is not kept.
func (j *Journal) Close() error {
	j.keeping.Lock()
	defer j.keeping.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	if j.err == nil {
		j.err = os.ErrClosed
	}
	return errors.Join(j.file.Sync(), j.file.Close())
}

// Commit is history.Journal's.
func (j *Journal) Commit(e *mvcc.Event, at time.Time) {
	if e.KV == nil {
		j.append("delete", e.Rev, at, e.Key, nil)
		return
	}
	j.append("put", e.Rev, at, e.Key, e.KV.Value)
}

// Grant is history.Journal's.
func (j *Journal) Grant(l history.Lease) { j.append("lease", l.Rev, l.At, l.Key, nil) }

// Compact is history.Journal's.
func (j *Journal) Compact(rev uint64, at time.Time) { j.append("compact", rev, at, "", nil) }

// append writes one set to the log.
func (j *Journal) append(kind string, rev uint64, at time.Time, key string, value []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil && j.late == nil {
		return
	}
	j.buf = appendLogged(j.buf[:0], kind, rev, at, key, value)
	if j.late != nil {
		j.late = append(j.late, j.buf...)
	}
	if j.file == nil || j.err != nil {
		return
	}
	var n int
	n, j.err = j.file.Write(j.buf)
	j.size, j.dirty = j.size+int64(n), true
	if j.err == nil && j.always {
		j.err, j.dirty = j.file.Sync(), false
	}
}
