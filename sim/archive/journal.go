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

// Journal keeps the store of a cluster in a file, which remains complete even if the process crashes:
//
//	the cluster when Keep began   an archive
//	~log
//	put:REV  delete:REV           each later commit, written before a client can see it
//	lease:REV                     when the object that was put at REV expires
//	compact:REV                   when the store was compacted to REV
//
// The file is a buntdb database that is open from Keep to Close. Each commit is one set in it. Once the operating system has
// received it, it survives the end of the process. buntdb syncs it to disk every second (SyncPolicy EverySecond), or before the
// commit continues (Always). Keep writes a new file next to the old one, and then replaces the old one as a whole:
//
//	commits ─▶ FILE ───────────────────────────────┐
//	       └─▶ late, while Keep writes FILE.part ──┴─▶ added to it ─▶ renamed to FILE
type Journal struct {
	path   string
	policy buntdb.SyncPolicy
	torn   bool // FILE was torn when it was opened

	keeping sync.Mutex // held by Keep
	closed  bool       // guarded by keeping

	mu   sync.Mutex
	db   *buntdb.DB // nil until Keep
	base int64      // size of the file after Keep wrote it
	late []entry    // nil unless Keep is writing
	err  error      // first write error, after which nothing is logged
}

// OpenJournal opens the journal in a file and returns its contents, or a nil Archive if the file does not exist. It returns an
// error if the file is not an archive. Nothing is recorded until Keep is called. If always is true, each commit is synced to disk
// before a client can see it; otherwise it is synced within a second.
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

// Keep writes the current state of the cluster and, from then on, each commit. It renames a torn file to FILE.torn. After an error,
// nothing is recorded until Keep succeeds. After Close, the error is os.ErrClosed.
func (j *Journal) Keep(c *sim.Cluster) error {
	j.keeping.Lock()
	defer j.keeping.Unlock()
	if j.closed {
		return fmt.Errorf("archive: %s: %w", j.path, os.ErrClosed)
	}
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

// begin writes a new file next to the old one and opens it. Until replace is called, each write is synced to disk.
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

// replace appends to the new file all commits that were made after its state was taken, and then replaces the old file.
func (j *Journal) replace(db *buntdb.DB) error {
	err := db.Update(func(tx *buntdb.Tx) error { // entries that the state already contains are ignored
		return set(tx, append(j.late, entry{logMark, "1"})...)
	})
	if err == nil && j.torn {
		_ = os.Remove(j.path + ".torn") // of an earlier failure
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
		_ = j.db.Close() // its file is no longer needed
	}
	j.db, j.base = db, j.size()
	if folder, err := os.Open(filepath.Dir(j.path)); err == nil { // sync the new name to disk, if the system supports it
		_ = folder.Sync()
		_ = folder.Close()
	}
	return nil
}

// size returns the size of the file, or 0 if it does not exist.
func (j *Journal) size() int64 {
	info, err := os.Stat(j.path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// set stores entries in the database.
func set(tx *buntdb.Tx, entries ...entry) error {
	for _, e := range entries {
		if _, _, err := tx.Set(e.name, e.value, nil); err != nil {
			return err
		}
	}
	return nil
}

// growth is the minimum size of a log at which the file is rewritten.
const growth = 32 << 20

// Grown reports whether Keep would considerably reduce the size of the file.
func (j *Journal) Grown() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.size()-j.base > max(growth, j.base)
}

// Err returns the error that ended the log, or nil.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// Close syncs the file to disk and closes the journal. Later commits of the cluster are not recorded.
func (j *Journal) Close() error {
	j.keeping.Lock()
	defer j.keeping.Unlock()
	j.closed = true
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
	j.append("put", e.Rev, at, e.Key, e.KV.Value())
}

// Grant implements history.Journal.
func (j *Journal) Grant(l history.Lease) { j.append("lease", l.Rev, l.At, l.Key, nil) }

// Compact implements history.Journal.
func (j *Journal) Compact(rev uint64, at time.Time) { j.append("compact", rev, at, "", nil) }

// append appends an entry to the log.
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
