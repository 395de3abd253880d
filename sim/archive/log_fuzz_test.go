package archive

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kubesim/kubesim/sim"
)

// FuzzLog reads logs with valid checksums and arbitrary contents, and logs that are torn at any byte: an inconsistent entry ends the log,
// and the cluster up to that point can be used.
func FuzzLog(f *testing.F) {
	c, err := sim.New(sim.Options{Bare: true})
	if err != nil {
		f.Fatal(err)
	}
	path := filepath.Join(f.TempDir(), "file")
	j, _, err := OpenJournal(path, false)
	if err == nil {
		err = j.Keep(c)
	}
	begin, err2 := os.ReadFile(path)
	if err != nil || err2 != nil {
		f.Fatal(err, err2)
	}
	next := c.Revision() + 1
	f.Add("put", next, "/registry/configmaps/default/a", []byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"default"}}`), 0)
	f.Add("put", next, "/registry/pods/default/a", []byte(`{"kind":"Pod","metadata":[]}`), 3)
	f.Add("delete", next, "/registry/namespaces/default", []byte{}, 0)
	f.Add("lease", next, "/registry/events/default/a", []byte{}, 0)
	f.Add("compact", next-1, "", []byte{}, 0)
	f.Add("compact", uint64(1)<<63, "", []byte("x"), 9)
	f.Fuzz(func(t *testing.T, kind string, rev uint64, key string, value []byte, torn int) {
		var log []byte
		for _, e := range []entry{newEntry(kind, rev, time.Unix(1800000000, int64(rev)), key, value),
			newEntry("put", c.Revision()+2, time.Unix(1900000000, 0), "/registry/configmaps/default/b", []byte(`{"metadata":{"name":"b"}}`))} {
			log = fmt.Appendf(log, "*3\r\n$3\r\nset\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(e.name), e.name, len(e.value), e.value)
		}
		if torn > 0 && torn < len(log) {
			log = log[:len(log)-torn]
		}
		a, err := Read(bytes.NewReader(append(bytes.Clone(begin), log...)))
		if err != nil {
			t.Fatal(err) // the archive proper is whole
		}
		if n := a.info.Newest - c.Revision(); int(n) != a.info.Commits || n > 2 {
			t.Fatalf("%d commits lead from %d to %d", a.info.Commits, c.Revision(), a.info.Newest)
		}
		if again, err := a.Cluster(); err == nil {
			again.Close()
		}
	})
}
