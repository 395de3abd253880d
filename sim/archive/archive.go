// Package archive saves clusters with their history, and loads them in another process or in a browser.
//
//	sim.Cluster ─ State ─▶ Write ─▶ bytes ─ Read ─▶ Archive ─┬─ Cluster()          as it was saved
//	                                                         ├─ ClusterAt(4711)    as it was at a revision
//	                                                         ├─ ClusterAtTime(t)   as it was at a time
//	                                                         └─ Search(Query)      records of the trace
//
// An archive is the append-only file of a buntdb database. Each of its commands is a set:
//
//	cluster               one JSON document: options, time, random numbers, replicas, faults
//	kv:REV                the value written at a revision: key, revision of its creation, value
//	event:REV             a commit: key, put or delete, and the revision of the value before
//	mark:REV              the time of the commit, and the random numbers after it
//	view:REV              a state that the commits do not produce: the revisions of all stored values
//	trace:TIME:N          a record of the trace, as JSON
//
// A Journal appends later commits to such a file (journal.go). Reading it returns the cluster as it was after the last commit, with
// restarted API servers.
//
// A loaded cluster responds like the saved one to lists and watches from old revisions and to continue tokens, and continues its
// managed fields and generated names. It has no open watches, pending requests or functions that a program has registered.
//
// The database is open while an archive is written or read, and from Journal.Keep to Journal.Close. An open database has a
// goroutine that ticks on the wall clock and accesses only the database. For that reason package sim does not import this package:
// programs open and close files themselves. In a testing/synctest bubble the goroutine ends one second of the bubble's time after
// the database is closed.
//
// Limits of buntdb:
//
//	lengths      it allocates whatever lengths a file contains, so it gets only complete sets (whole)
//	torn file    it truncates the file, so a Journal never opens the existing file: it writes a new one
//	memory       it holds the file in memory, so a Journal needs about as much memory as its file is long
//	fsync        it drops the error, so a Journal detects failed writes, but not a disk that fails after them
//	Shrink       it writes secrets to a world-readable file, and renames it before it is synced: Journal uses Keep instead
//	indexes      an index over 100,000 records takes a second or more to build, as long as 1,000 scans (search.go)
package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/tidwall/buntdb"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/trace"
)

// format is the version of the file. Read also accepts older versions:
//
//	1  had separate fields for the state of two controllers, and no state of any other controller
const format = 3

// Archive is a saved cluster.
type Archive struct {
	state   *sim.State
	info    Info
	records []trace.Record // the trace, sorted by time
	index   index          // index of records
}

// Info describes the contents of an Archive.
type Info struct {
	Module  string      // version of the simulator that saved it
	Options sim.Options // options of the cluster, without its clock
	Time    time.Time   // time of the cluster's clock
	Oldest  uint64      // oldest revision that can be read
	Newest  uint64
	Records int // number of trace records
	Size    int // size in bytes
	Commits int // number of a Journal's commits since the cluster was saved

	// Torn is empty if the log of a Journal is complete. Otherwise it contains the last revision before the damage, and the error.
	// The log is damaged if the machine or the process stops during a write. The rest of the file is ignored.
	Torn string
}

// Write writes the current state of a cluster. If two clusters are equal, so are the bytes. Write returns an error if w does.
func Write(w io.Writer, c *sim.Cluster) error { return writeState(w, c.State()) }

// writeState implements Write for the state of a cluster.
func writeState(w io.Writer, s *sim.State) error {
	db, err := buntdb.Open(":memory:")
	if err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	defer db.Close()
	err = db.Update(func(tx *buntdb.Tx) error {
		return (&writer{tx: tx, state: s}).write()
	})
	if err == nil {
		err = db.Save(w)
	}
	if err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	return nil
}

// Save writes a cluster to a file, which it replaces atomically. If that fails, an existing file is unchanged.
func Save(path string, c *sim.Cluster) error {
	part := path + ".part"
	err := saveState(part, c.State())
	if err == nil {
		if err = os.Rename(part, path); err != nil {
			_ = os.Remove(part) // the first error is more useful
		}
	}
	if err != nil {
		return fmt.Errorf("archive: cannot save: %w", err)
	}
	return nil
}

// saveState writes the state of a cluster to disk. Because the file may contain tokens and secrets, only its owner can read it.
func saveState(path string, s *sim.State) error {
	var b bytes.Buffer
	if err := writeState(&b, s); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b.Bytes())
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(path) // the first error is more useful
	}
	return err
}

// Open reads a file written by Save or by a Journal. Its errors contain the path.
func Open(path string) (*Archive, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	defer f.Close()
	a, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

// sizeMax is the maximum size of an archive in bytes.
const sizeMax = 1 << 30

// Read reads an archive or a journal. If data is anything else, it returns an error that describes the problem.
func Read(r io.Reader) (*Archive, error) {
	data, err := io.ReadAll(io.LimitReader(r, sizeMax+1))
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	if len(data) > sizeMax {
		return nil, fmt.Errorf("archive: the file is larger than %d bytes", sizeMax)
	}
	a, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	return a, nil
}

// parse implements Read. It returns an error if the file is damaged or not an archive.
func parse(data []byte) (*Archive, error) {
	db, err := buntdb.Open(":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	a, end := &Archive{info: Info{Size: len(data)}}, whole(data)
	if err := db.Load(bytes.NewReader(data[:end])); err != nil {
		return nil, fmt.Errorf("the file is damaged: %w", err)
	}
	var torn error
	if end < len(data) {
		torn = fmt.Errorf("at byte %d of %d, an entry is incomplete or invalid", end, len(data))
	}
	return a, db.View(func(tx *buntdb.Tx) error {
		_, err := tx.Get(logMark)
		switch {
		case err == nil:
			return a.readLog(tx, torn)
		case torn != nil:
			return fmt.Errorf("the file is damaged, or not an archive: %w", torn)
		}
		return a.read(tx)
	})
}

// whole returns the length of the longest prefix of data that consists of complete sets, each in the form "*3 $3 set $LENGTH KEY
// $LENGTH VALUE" with \r\n after each word. buntdb would accept more, but it allocates as much memory as a length specifies.
func whole(data []byte) int {
	rest := data
	for {
		next, ok := bytes.CutPrefix(rest, []byte("*3\r\n$3\r\nset\r\n"))
		for word := 0; ok && word < 2; word++ {
			length, behind, _ := bytes.Cut(next, []byte("\r\n"))
			digits, _ := bytes.CutPrefix(length, []byte("$"))
			n, err := strconv.ParseUint(string(digits), 10, 31)
			if ok = len(digits) < len(length) && err == nil && n <= uint64(len(behind)); ok {
				next, ok = bytes.CutPrefix(behind[n:], []byte("\r\n"))
			}
		}
		if !ok {
			return len(data) - len(rest)
		}
		rest = next
	}
}

// Info returns a description of the Archive's contents.
func (a *Archive) Info() Info { return a.info }

// State returns the saved state, for sim.Cluster.LoadState. It must not be loaded by several callers at the same time.
func (a *Archive) State() *sim.State { return a.state }

// Cluster returns the saved cluster with a clock.Manual at the saved time. It returns an error if the state contains an object that
// this version cannot read.
func (a *Archive) Cluster() (*sim.Cluster, error) { return a.ClusterOn(nil) }

// ClusterOn is like Cluster, but uses clock k, which must not be behind the saved time. If k is nil, it uses a clock.Manual.
func (a *Archive) ClusterOn(k clock.Clock) (c *sim.Cluster, err error) {
	defer func() { // a valid file may contain objects that no server would have stored
		if r := recover(); r != nil {
			c, err = nil, fmt.Errorf("archive: the file holds an object that this version cannot read: %v", r)
		}
	}()
	c, err = sim.Load(a.state, k)
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	a.state.Unread = false
	return c, nil
}

// ClusterAt returns the cluster as it was immediately after the commit of a revision (sim.Cluster.ForkAt). It returns an error if
// the archive does not contain that revision.
func (a *Archive) ClusterAt(rev uint64) (*sim.Cluster, error) {
	c, err := a.Cluster()
	if err != nil {
		return nil, err
	}
	f, err := c.ForkAt(rev)
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	return f, nil
}

// ClusterAtTime returns the cluster as it was at a time of its clock. It returns an error if the archive does not contain the state
// at that time.
func (a *Archive) ClusterAtTime(t time.Time) (*sim.Cluster, error) {
	c, err := a.Cluster()
	if err != nil {
		return nil, err
	}
	rev, ok := c.RevisionAt(t)
	if !ok || t.After(a.info.Time) {
		first, _ := c.TimeOf(a.info.Oldest)
		return nil, fmt.Errorf("archive: it does not contain the state at %s, only the time from %s to %s",
			t.Format(time.RFC3339Nano), first.Format(time.RFC3339Nano), a.info.Time.Format(time.RFC3339Nano))
	}
	f, err := c.ForkAt(rev)
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	f.Clock().(*clock.Manual).AdvanceTo(t)
	return f, nil
}
