// Package archive saves clusters with their history and loads them again, in another process or in a browser.
//
//	sim.Cluster ─ State ─▶ Write ─▶ bytes ─ Read ─▶ Archive ─┬─ Cluster()          as it was saved
//	                                                         ├─ ClusterAt(4711)    as it was at a revision
//	                                                         ├─ ClusterAtTime(t)   as it was at a time
//	                                                         └─ Search(Query)      what the trace tells
//
// An archive is the append-only file of a buntdb database, whose every line is a set:
//
//	cluster               one JSON document: options, time, random numbers, replicas, faults
//	kv:REV                what was written at a revision: key, revision of its creation, value
//	event:REV             a commit: key, put or delete, and the revision of what was there before
//	mark:REV              when it was made, and the random numbers after it
//	view:REV              a state that no commit leads to: the revisions of all that was stored
//	trace:TIME:N          a record of the trace, as JSON; found by time, and by the indexes of object and of site
//
// A Journal adds to such a file what is committed from then on (journal.go). Who reads one finds the cluster as it was at the
// last commit, with its API servers started anew.
//
// A loaded cluster answers as the saved one would have: lists and watches from old revisions, continue tokens, fields'
// managers, generated names. What it does not have: open watches, requests that waited, and the functions that a program
// has registered.
//
// buntdb has a goroutine that looks at the wall clock for as long as a database is open. Each function here opens one,
// works and closes it; none belongs on the path of a request.
package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim"
	"github.com/tidwall/buntdb"
)

// format is the version of the file. Read reads those before it, too:
//
//	1  had fields of its own for what two controllers remember, and nothing of others
const format = 3

// Archive is a saved cluster.
type Archive struct {
	data  []byte // without the log of a Journal
	state *sim.State
	info  Info
}

// Info says what an Archive holds.
type Info struct {
	Module  string      // version of the simulator that saved it
	Options sim.Options // of the cluster, without its clock
	Time    time.Time   // on the cluster's clock
	Oldest  uint64      // revision that can be read
	Newest  uint64
	Records int // of the trace
	Size    int // in bytes
	Commits int // since the cluster was saved: a Journal's

	// Torn says where and why the log of a Journal ends before the file does: the machine or the process ended while it was
	// written. What is behind that place does not count. "": it does not.
	Torn string
}

// Write writes a cluster as it is now. Equal clusters give equal bytes.
func Write(w io.Writer, c *sim.Cluster) error { return writeState(w, c.State()) }

// writeState is Write for the state of a cluster.
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

// Save writes a cluster to a file, which it replaces as a whole or not at all.
func Save(path string, c *sim.Cluster) error { return save(path, c.State()) }

// save is Save for the state of a cluster.
func save(path string, s *sim.State) error {
	var b bytes.Buffer
	if err := writeState(&b, s); err != nil {
		return err
	}
	part := path + ".part"
	err := os.WriteFile(part, b.Bytes(), 0o600) // it may hold tokens and secrets
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		return fmt.Errorf("archive: cannot save: %w", errors.Join(err, ignoreMissing(os.Remove(part))))
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// Open reads a file of Save.
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

// sizeMax is the greatest size of an archive in bytes.
const sizeMax = 1 << 30

// Read reads what Write wrote. Of anything else it says what is wrong with it.
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

// parse is Read of bytes.
func parse(data []byte) (*Archive, error) {
	end, err := check(data)
	if err != nil {
		return nil, err
	}
	a := &Archive{data: data[:end]}
	if err := a.view(nil, a.read); err != nil {
		return nil, err
	}
	a.info.Size = len(data)
	a.replay(data[end:])
	return a, nil
}

// view opens a database with what the archive holds, calls prepare and then f, and closes it.
func (a *Archive) view(prepare func(*buntdb.DB) error, f func(*buntdb.Tx) error) error {
	db, err := buntdb.Open(":memory:")
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.Load(bytes.NewReader(a.data)); err != nil {
		return fmt.Errorf("the file is damaged: %w", err)
	}
	if prepare != nil {
		if err := prepare(db); err != nil {
			return err
		}
	}
	return db.View(f)
}

// Info returns what the Archive holds.
func (a *Archive) Info() Info { return a.info }

// State returns what was saved, for sim.Cluster.Recall. It is to be loaded by one caller at a time.
func (a *Archive) State() *sim.State { return a.state }

// Cluster returns the cluster as it was saved, on a clock.Manual that stands where its clock stood.
func (a *Archive) Cluster() (*sim.Cluster, error) { return a.ClusterOn(nil) }

// ClusterOn is Cluster on another clock, which must not be behind the one that the cluster had. nil: a clock.Manual.
func (a *Archive) ClusterOn(k clock.Clock) (c *sim.Cluster, err error) {
	defer func() { // the file may hold, in a valid form, what no server would have stored
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

// ClusterAt returns the cluster as it was when a revision had just been written (sim.Cluster.ForkAt).
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

// ClusterAtTime returns the cluster as it was at a time of its clock.
func (a *Archive) ClusterAtTime(t time.Time) (*sim.Cluster, error) {
	c, err := a.Cluster()
	if err != nil {
		return nil, err
	}
	rev, ok := c.RevisionAt(t)
	if !ok || t.After(a.info.Time) {
		first, _ := c.TimeOf(a.info.Oldest)
		return nil, fmt.Errorf("archive: what was at %s is not in it: it holds the time from %s to %s",
			t.Format(time.RFC3339Nano), first.Format(time.RFC3339Nano), a.info.Time.Format(time.RFC3339Nano))
	}
	f, err := c.ForkAt(rev)
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	f.Clock().(*clock.Manual).AdvanceTo(t)
	return f, nil
}
