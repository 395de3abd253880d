package archive

import (
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/history"
	"github.com/kubesim/kubesim/sim/object"
)

// logMark is the key behind which the log of a Journal begins. It sorts behind those of an archive, which must be whole;
// what comes after it counts as far as it goes.
const logMark = "~log"

// logBegin is the set of logMark.
const logBegin = "*3\r\n$3\r\nset\r\n$4\r\n" + logMark + "\r\n$1\r\n1\r\n"

// castagnoli is the polynomial of the checksums in a log.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendLogged appends one set of a log, with its checksum.
func appendLogged(b []byte, kind string, rev uint64, at time.Time, key string, value []byte) []byte {
	name := numbered(kind, rev)
	head := strconv.FormatInt(at.UnixNano(), 10) + " " + strconv.Quote(key) + " "
	sum := crc32.Update(checksum(name, head), castagnoli, value)
	b = fmt.Appendf(b, "*3\r\n$3\r\nset\r\n$%d\r\n%s\r\n$%d\r\n%08x %s", len(name), name, len("01234567 ")+len(head)+len(value), sum, head)
	return append(append(b, value...), "\r\n"...)
}

// checksum is that of a set of a log: of its name and what comes behind the checksum.
func checksum(name, rest string) uint32 {
	return crc32.Update(crc32.Checksum([]byte(name), castagnoli), castagnoli, []byte(rest))
}

// replay makes the archive what a log says, as far as that is whole: nothing counts behind the first set that is not.
func (a *Archive) replay(log []byte) {
	at := len(a.data)
	for len(log) > 0 {
		name, value, rest, ok := cutSet(log)
		err := errors.New("it is cut off")
		if ok {
			err = a.take(string(name), string(value))
		}
		if err != nil {
			a.info.Torn = fmt.Sprintf("at byte %d of %d, behind revision %d: %v", at, a.info.Size, a.state.History.Store.Rev(), err)
			break
		}
		at += len(log) - len(rest)
		log = rest
	}
	if a.info.Commits > 0 { // its API servers have not seen what the log says
		h := &a.state.History
		a.info.Oldest, a.info.Newest, a.info.Time = h.Store.Compacted(), h.Store.Rev(), h.Now
		a.state = sim.Restarted(a.state, a.state.Options)
	}
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

// take does what a set of the log says.
func (a *Archive) take(name, value string) error {
	s := a.state
	sum, value, _ := strings.Cut(value, " ")
	if sum != fmt.Sprintf("%08x", checksum(name, value)) {
		return fmt.Errorf("the checksum of %q is wrong", name)
	}
	kind, number, _ := strings.Cut(name, ":")
	rev, err := strconv.ParseUint(number, 10, 64)
	nanos, text, _ := strings.Cut(value, " ")
	ns, err2 := strconv.ParseInt(nanos, 10, 64)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	at := time.Unix(0, ns).In(s.History.Now.Location())
	if kind == "compact" {
		if rev <= s.History.Store.Compacted() {
			return nil // it was forgotten when the file was begun
		}
		return s.History.Compact(rev, at)
	}
	key, rest, err := cutKey(text)
	if err != nil {
		return err
	}
	if kind == "lease" {
		s.History.Leases = append(s.History.Leases, history.Lease{Key: key, Rev: rev, At: at})
		return nil
	}
	if next := s.History.Store.Rev() + 1; rev != next {
		return fmt.Errorf("the commit of revision %d is missing", next)
	}
	switch kind {
	case "put":
		if _, err := object.Parse([]byte(rest)); err != nil {
			return fmt.Errorf("the value of %s is no object: %w", key, err)
		}
		s.History.Store.Put(key, []byte(rest), nil)
	case "delete":
		if _, ok := s.History.Store.Delete(key); !ok {
			return fmt.Errorf("%s is deleted, and was not there", key)
		}
	default:
		return fmt.Errorf("%q is neither put, delete nor lease", kind)
	}
	if at.After(s.History.Now) {
		s.History.Now = at
	}
	s.History.Marks = append(s.History.Marks, history.Mark{Rev: rev, At: at})
	a.info.Commits++
	return nil
}
