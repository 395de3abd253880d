package archive

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/tidwall/buntdb"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/history"
	"github.com/kubesim/kubesim/sim/mvcc"
)

// Journal keeps the store of a cluster in a file, which survives the end of the process, including a crash:
//
//	the cluster when Keep began   an archive
//	~log
//	put:REV  delete:REV           each commit since, written before a client can see it
//	lease:REV                     when the object that was put at REV expires
//	compact:REV                   when the store was compacted to REV
//
// The file is a buntdb database that is open from Keep to Close. A commit is one set in it. Once it has reached the operating system it
// survives the end of the process, and buntdb syncs it to the disk each second (SyncPolicy EverySecond) or before the commit
// continues (Always). Keep writes a new file beside the old one and replaces the old one as a whole:
//
//	commits ─▶ FILE ───────────────────────────────┐
//	       └─▶ late, while Keep writes FILE.part ──┴─▶ added to it ─▶ renamed to FILE
type Journal struct {
	path   string
	policy buntdb.SyncPolicy
	torn   bool // FILE was, when it was opened

	keeping sync.Mutex // held by Keep

	mu   sync.Mutex
	db   *buntdb.DB // nil before Keep
	base int64      // size of the file when Keep had written it
	late []entry    // nil unless Keep is writing
	err  error      // the first write error, at which the log ends
}

// OpenJournal opens the journal in a file and returns what the file holds, or nil if there is no file yet. If always is set,
// each commit is on the disk before a client can see it; otherwise it is there within a second.
func OpenJournal(path string, always bool) (*Journal, *Archive, error) {
	j := &Journal{path: path, policy: buntdb.EverySecond}
	if always {
		j.policy = buntdb.Always
	}
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

// Keep writes the current state of the cluster and, from now on, each commit. A torn file is kept beside the new one as FILE.torn.
func (j *Journal) Keep(c *sim.Cluster) error {
	j.keeping.Lock()
	defer j.keeping.Unlock()
	j.mu.Lock()
	j.late = []entry{}
	j.mu.Unlock()
	db, err := j.begin(c.Keep(j))
	j.mu.Lock()
	defer j.mu.Unlock()
	if err == nil {
		err = j.replace(db)
	}
	j.late = nil
	if err != nil {
		err = fmt.Errorf("archive: %s: %w", j.path, err)
	}
	j.err = err
	return err
}

// begin writes a new file beside the old one and opens it. At first each write to it is synced to the disk.
func (j *Journal) begin(s *sim.State) (*buntdb.DB, error) {
	part := j.path + ".part"
	if err := saveState(part, s); err != nil {
		return nil, err
	}
	db, err := buntdb.Open(part)
	if err != nil {
		return nil, err
	}
	return db, db.SetConfig(buntdb.Config{SyncPolicy: buntdb.Always, AutoShrinkDisabled: true})
}

// replace appends to a new file the commits since its state was taken, and replaces the old file by it.
func (j *Journal) replace(db *buntdb.DB) error {
	err := db.Update(func(tx *buntdb.Tx) error { // entries that the state already contains are ignored
		return set(tx, append(j.late, entry{logMark, "1"})...)
	})
	if err == nil && j.torn {
		_ = os.Remove(j.path + ".torn") // of an earlier end, if any
		err = os.Link(j.path, j.path+".torn")
		j.torn = err != nil
	}
	if err == nil {
		err = db.SetConfig(buntdb.Config{SyncPolicy: j.policy, AutoShrinkDisabled: true})
	}
	if err == nil {
		err = os.Rename(j.path+".part", j.path)
	}
	if err != nil {
		return errors.Join(err, db.Close(), os.Remove(j.path+".part"))
	}
	if j.db != nil {
		_ = j.db.Close() // its file is not needed any more
	}
	j.db, j.base = db, j.size()
	if folder, err := os.Open(filepath.Dir(j.path)); err == nil { // the new name is to be on the disk, where the system can do that
		_ = folder.Sync()
		_ = folder.Close()
	}
	return nil
}

// size returns the size of the file.
func (j *Journal) size() int64 {
	info, err := os.Stat(j.path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// set sets entries.
func set(tx *buntdb.Tx, entries ...entry) error {
	for _, e := range entries {
		if _, _, err := tx.Set(e.name, e.value, nil); err != nil {
			return err
		}
	}
	return nil
}

// growth is the least size of a log at which the file is rewritten.
const growth = 32 << 20

// Grown reports whether the log is larger than it need be: Keep makes it smaller.
func (j *Journal) Grown() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.size()-j.base > max(growth, j.base)
}

// Err returns the error that ended the log, if any.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// Close syncs everything to the disk and closes the journal. Later commits of the cluster are not recorded.
func (j *Journal) Close() error {
	j.keeping.Lock()
	defer j.keeping.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.db == nil {
		return nil
	}
	if j.err == nil {
		j.err = os.ErrClosed
	}
	return j.db.Close()
}

// Commit implements history.Journal.
func (j *Journal) Commit(e *mvcc.Event, at time.Time) {
	if e.KV == nil {
		j.append("delete", e.Rev, at, e.Key, nil)
		return
	}
	j.append("put", e.Rev, at, e.Key, e.KV.Value)
}

// Grant implements history.Journal.
func (j *Journal) Grant(l history.Lease) { j.append("lease", l.Rev, l.At, l.Key, nil) }

// Compact implements history.Journal.
func (j *Journal) Compact(rev uint64, at time.Time) { j.append("compact", rev, at, "", nil) }

// append adds one entry to the log.
func (j *Journal) append(kind string, rev uint64, at time.Time, key string, value []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e := newEntry(kind, rev, at, key, value)
	if j.late != nil {
		j.late = append(j.late, e)
	}
	if j.db != nil && j.err == nil {
		j.err = j.db.Update(func(tx *buntdb.Tx) error { return set(tx, e) })
	}
}
