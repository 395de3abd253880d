package archive

import (
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/buntdb"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/history"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/pack"
)

// logMark is a key in the file of a Journal. The archive before it is complete, whereas the log after it may be torn.
const logMark = "~log"

// kinds are the kinds of keys in a Journal's file.
const kinds = " cluster kv event mark view trace put delete lease compact " + logMark + " "

// entry is a set in the log of a Journal:
//
//	put:REV  delete:REV  lease:REV  compact:REV    CHECKSUM NANOSECONDS "KEY" VALUE
//
// After a machine failure, the parts of a file that had not reached the disk may have any content. The checksum, which also covers
// the name, detects that.
type entry struct{ name, value string }

// newEntry returns the entry for a change at a revision.
func newEntry(kind string, rev uint64, at time.Time, key string, value []byte) entry {
	name := revisionKey(kind, rev)
	text := strconv.FormatInt(at.UnixNano(), 10) + " " + strconv.Quote(key) + " " + string(value)
	return entry{name, checksum(name, text) + " " + text}
}

// castagnoli is the polynomial of the checksums in a log.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum returns the checksum of an entry: of its name and of the text that follows the checksum.
func checksum(name, text string) string {
	return fmt.Sprintf("%08x", crc32.Update(crc32.Checksum([]byte(name), castagnoli), castagnoli, []byte(text)))
}

// change is a parsed entry.
type change struct {
	put   bool
	at    time.Time
	key   string
	value string
}

// parse parses an entry. It returns an error if the checksum is wrong.
func (e entry) parse() (change, error) {
	sum, text, _ := strings.Cut(e.value, " ")
	if sum != checksum(e.name, text) {
		return change{}, errors.New("the checksum is wrong")
	}
	nanos, text, _ := strings.Cut(text, " ")
	ns, err := strconv.ParseInt(nanos, 10, 64)
	c := change{put: strings.HasPrefix(e.name, "put:"), at: time.Unix(0, ns)}
	if err == nil && !strings.HasPrefix(e.name, "compact:") {
		c.key, c.value, err = cutKey(text)
	}
	return c, err
}

// readLog reads the State at the end of a Journal's log. If the log is torn, it is applied up to the first incomplete or
// inconsistent entry.
func (a *Archive) readLog(tx *buntdb.Tx, torn error) error {
	if err := a.read(tx); err != nil {
		return err
	}
	h := &a.state.History
	held := h.Store.Rev()
	if err := errors.Join(redo(tx, h), torn); err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		a.info.Torn = fmt.Sprintf("behind revision %d: %s", h.Store.Rev(), first)
	}
	if a.info.Commits = int(h.Store.Rev() - held); a.info.Commits > 0 { // the API servers have not seen the commits of the log
		a.info.Oldest, a.info.Newest, a.info.Time = h.Store.Compacted(), h.Store.Rev(), h.Now
		a.state = sim.StateAfterRestart(a.state, a.state.Options)
	}
	return nil
}

// redo applies a log to a history: first commits, then leases and compactions. It ignores entries that the history already
// contains. It returns an error if a commit is missing.
func redo(tx *buntdb.Tx, h *history.State) error {
	commits, held := map[uint64]entry{}, h.Store.Rev()
	collect := func(kind string) error {
		return each(tx, kind, func(rev uint64, value string) error {
			if rev > held {
				commits[rev] = entry{revisionKey(kind, rev), value}
			}
			return nil
		})
	}
	err := errors.Join(collect("put"), collect("delete"))
	for rev := held + 1; err == nil && len(commits) > 0; rev++ {
		e, there := commits[rev]
		if !there {
			return fmt.Errorf("the commit of revision %d is missing", rev)
		}
		delete(commits, rev)
		if err = e.commit(h); err != nil {
			err = fmt.Errorf("%s: %w", e.name, err)
		}
	}
	newest := h.Store.Rev()
	unknown := tx.Ascend("", func(key, _ string) bool {
		kind, _, _ := strings.Cut(key, ":")
		if !strings.Contains(kinds, " "+kind+" ") {
			err = errors.Join(err, fmt.Errorf("the key %q is unknown", key))
		}
		return true
	})
	leases := each(tx, "lease", func(rev uint64, value string) error {
		c, err := entry{revisionKey("lease", rev), value}.parse()
		if err == nil && rev > held && rev <= newest {
			h.Leases = append(h.Leases, history.Lease{Key: c.key, Rev: rev, At: c.at.In(h.Now.Location())})
		}
		return err
	})
	forgotten := each(tx, "compact", func(rev uint64, value string) error {
		c, err := entry{revisionKey("compact", rev), value}.parse()
		if err != nil || rev <= h.Store.Compacted() || rev > newest {
			return err
		}
		return h.Compact(rev, c.at.In(h.Now.Location()))
	})
	return errors.Join(err, unknown, leases, forgotten)
}

// commit applies the entry to a history, as the next commit. It returns an error if the value is not an object, or if a deleted
// object does not exist.
func (e entry) commit(h *history.State) error {
	c, err := e.parse()
	if err != nil {
		return err
	}
	if c.put {
		if _, err := object.Parse([]byte(c.value)); err != nil {
			return fmt.Errorf("the value of %s is not an object: %w", c.key, err)
		}
		h.Store.Put(c.key, pack.New([]byte(c.value)), nil)
	} else if _, ok := h.Store.Delete(c.key); !ok {
		return fmt.Errorf("%s is deleted, but did not exist", c.key)
	}
	at := c.at.In(h.Now.Location())
	if at.After(h.Now) {
		h.Now = at
	}
	h.Marks.Add(h.Store.Rev(), at, nil)
	return nil
}

// Append appends changes to the file of a Journal that no process has open. It returns an error if the file cannot be written.
func Append(path string, changes []history.Change) error {
	db, err := buntdb.Open(path)
	if err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	err = db.Update(func(tx *buntdb.Tx) error {
		for _, c := range changes {
			if err := set(tx, newEntry(c.Kind, c.Rev, c.At, c.Key, c.Value)); err != nil {
				return err
			}
		}
		return nil
	})
	if err = errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("archive: %s: %w", path, err)
	}
	return nil
}
