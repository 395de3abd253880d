package archive_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/archive"
)

// resumed opens the journal in a directory and starts a cluster from its contents.
func resumed(t *testing.T, dir string, o sim.Options) (*sim.Cluster, *archive.Journal) {
	t.Helper()
	j, a, err := archive.OpenJournal(filepath.Join(dir, "file"), false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	var c *sim.Cluster
	if a == nil {
		c, err = sim.New(o)
	} else {
		c, err = sim.Resume(a.State(), o)
	}
	if err == nil {
		err = j.Keep(c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c, j
}

const definition = `{"metadata":{"name":"ws.x.io"},"spec":{"group":"x.io","scope":"Cluster","names":{"plural":"ws","kind":"W"},
	"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`

// everything returns the responses to reads of all objects that the tests write.
func everything(c *sim.Cluster) string {
	all := ask(c, "GET", maps, "", "") + ask(c, "GET", "/apis/x.io/v1/ws", "", "") +
		ask(c, "GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ws.x.io", "", "") +
		ask(c, "GET", "/api/v1/namespaces/default/events", "", "") + ask(c, "GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles", "", "")
	return all
}

// Stored objects and their revisions survive the end of the process, even without Close.
func TestJournal(t *testing.T) {
	t.Parallel()
	is, dir := is.New(t), t.TempDir()
	c, _ := resumed(t, dir, sim.Options{})
	ask(c, "POST", maps, "", `{"metadata":{"name":"a"}}`)
	uid := ask(c, "POST", maps, "", `{"metadata":{"name":"b"}}`)
	ask(c, "DELETE", maps+"/a", "", "")
	ask(c, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "", definition)
	is.True(strings.Contains(ask(c, "POST", "/apis/x.io/v1/ws", "", `{"apiVersion":"x.io/v1","kind":"W","metadata":{"name":"w"},"spec":{"a":1}}`), `"uid"`))
	ask(c, "POST", "/api/v1/namespaces/default/events", "", `{"metadata":{"name":"e","namespace":"default"},"involvedObject":{"namespace":"default"}}`)
	c.Clock().(*clock.Manual).Advance(time.Minute)
	before, rev := everything(c), c.Revision()
	is.True(strings.Contains(before, `"name":"w"`))

	c, _ = resumed(t, dir, sim.Options{})
	is.Equal(c.Revision(), rev)
	is.Equal(everything(c), before)
	is.True(!strings.Contains(uid, uidOf(ask(c, "POST", maps, "", `{"metadata":{"name":"d"}}`)))) // random numbers differ after a restart
	is.Equal(c.Revision(), rev+1)
	before = everything(c)

	c, j := resumed(t, dir, sim.Options{})
	is.Equal(everything(c), before)
	is.NoErr(j.Close())
	c.Clock().(*clock.Manual).Advance(2 * time.Hour)
	is.True(!strings.Contains(everything(c), `"name":"e"`)) // the lease of an event is still valid
}

func uidOf(answer string) string {
	_, rest, _ := strings.Cut(answer, `"uid":"`)
	uid, _, _ := strings.Cut(rest, `"`)
	return uid
}

// The next process completes the deletion of a definition whose objects were being deleted when the process ended.
func TestJournalTakesUp(t *testing.T) {
	t.Parallel()
	is, dir := is.New(t), t.TempDir()
	c, _ := resumed(t, dir, sim.Options{})
	ask(c, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "", definition)
	ask(c, "POST", "/apis/x.io/v1/ws", "", `{"apiVersion":"x.io/v1","kind":"W","metadata":{"name":"w","finalizers":["x.io/y"]}}`)
	ask(c, "DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ws.x.io", "", "")
	c, _ = resumed(t, dir, sim.Options{})
	const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ws.x.io"
	is.True(strings.Contains(ask(c, "GET", path, "", ""), `"deletionTimestamp"`))
	w := ask(c, "GET", "/apis/x.io/v1/ws/w", "", "")
	ask(c, "PUT", "/apis/x.io/v1/ws/w", "", strings.Replace(w, `"finalizers":["x.io/y"],`, "", 1))
	c.Clock().(*clock.Manual).Advance(10 * time.Second)
	is.True(strings.Contains(ask(c, "GET", path, "", ""), `"NotFound"`))
}

// If the process stops during a write, at any byte, or a part of the log is damaged, the next process finds all complete commits
// before that point. It reports where the log ends, and keeps the damaged file.
func TestJournalTorn(t *testing.T) {
	t.Parallel()
	is, path := is.New(t), filepath.Join(t.TempDir(), "file")
	c, _ := resumed(t, filepath.Dir(path), sim.Options{Bare: true})
	first := c.Revision()
	whole, err := os.ReadFile(path)
	is.NoErr(err)
	for _, name := range []string{"a", "b"} {
		ask(c, "POST", maps, "", `{"metadata":{"name":"`+name+`"}}`)
	}
	file, err := os.ReadFile(path)
	is.NoErr(err)
	found := map[uint64]int{}
	for n := len(file); n >= len(whole); n -= 9 {
		a, err := archive.Read(bytes.NewReader(file[:n]))
		is.NoErr(err)
		i := a.Info()
		is.Equal(i.Newest-first, uint64(i.Commits))
		is.Equal(i.Torn == "", n == len(file))
		found[i.Newest-first]++
	}
	is.Equal(len(found), 3) // none, one and both
	_, err = archive.Read(bytes.NewReader(file[:len(whole)-1]))
	is.True(err != nil) // an archive without a log must be complete

	for old, now := range map[string]string{"put:": "pot:", `"name":"a"`: `"name":"x"`, "/registry/": "/etc/passw", "4005": "4006"} {
		damaged := append(bytes.Clone(whole), bytes.Replace(file[len(whole):], []byte(old), []byte(now), 1)...)
		a, err := archive.Read(bytes.NewReader(damaged))
		is.NoErr(err)
		is.Equal(a.Info().Newest, first)
		is.True(strings.HasPrefix(a.Info().Torn, fmt.Sprintf("behind revision %d: ", first)))
	}

	is.NoErr(os.WriteFile(path, file[:len(file)-3], 0o600))
	c, _ = resumed(t, filepath.Dir(path), sim.Options{Bare: true})
	is.True(strings.Contains(everything(c), `"name":"a"`))
	is.True(!strings.Contains(everything(c), `"name":"b"`))
	torn, err := os.ReadFile(path + ".torn")
	is.NoErr(err)
	is.Equal(torn, file[:len(file)-3])
}

// The file contains the compactions of the store, so that it does not grow from one process to the next.
func TestJournalForgets(t *testing.T) {
	t.Parallel()
	is, dir := is.New(t), t.TempDir()
	c, _ := resumed(t, dir, sim.Options{Bare: true})
	for range 3 {
		ask(c, "POST", maps, "", `{"metadata":{"generateName":"a"}}`)
	}
	c.Compact()
	ask(c, "POST", maps, "", `{"metadata":{"name":"b"}}`)
	a, err := archive.Open(filepath.Join(dir, "file"))
	is.NoErr(err)
	is.Equal(a.Info().Torn, "")
	is.Equal(a.Info().Oldest, c.Compacted())
	is.Equal(a.Info().Newest, c.Revision())
	again, err := a.Cluster()
	is.NoErr(err)
	is.Equal(again.Compacted(), c.Compacted())
	is.Equal(everything(again), everything(c))
}

// Commits during Keep are in the new file, and a process that ends during Keep leaves the old file.
func TestJournalKeeps(t *testing.T) {
	t.Parallel()
	is, dir := is.New(t), t.TempDir()
	c, j := resumed(t, dir, sim.Options{Bare: true})
	done := make(chan error)
	go func() {
		var err error
		for range 5 {
			err = errors.Join(err, j.Keep(c))
		}
		done <- err
	}()
	for n := range 300 {
		ask(c, "POST", maps, "", fmt.Sprintf(`{"metadata":{"name":"a%d"}}`, n))
		if n%20 == 0 {
			c.Compact()
		}
	}
	is.NoErr(<-done)
	is.True(!j.Grown())
	a, err := archive.Open(filepath.Join(dir, "file"))
	is.NoErr(err)
	is.Equal(a.Info().Torn, "")
	is.Equal(a.Info().Newest, c.Revision())
	again, err := a.Cluster()
	is.NoErr(err)
	is.Equal(everything(again), everything(c))

	is.NoErr(os.WriteFile(filepath.Join(dir, "file.part"), []byte("*3\r\n"), 0o600)) // left by a process that ended
	before := everything(c)
	c, _ = resumed(t, dir, sim.Options{Bare: true})
	is.Equal(everything(c), before)
}

// A journal that cannot write keeps its error until Keep succeeds, and then records commits again.
func TestJournalFails(t *testing.T) {
	t.Parallel()
	is, dir := is.New(t), t.TempDir()
	c, j := resumed(t, dir, sim.Options{Bare: true})
	is.NoErr(j.Err())
	is.NoErr(os.Mkdir(filepath.Join(dir, "file.part"), 0o700)) // where Keep writes
	is.True(j.Keep(c) != nil)
	is.True(j.Err() != nil)
	is.NoErr(os.Remove(filepath.Join(dir, "file.part")))
	is.NoErr(j.Keep(c))
	is.NoErr(j.Err())
	_, _, err := archive.OpenJournal(dir, false)
	is.True(err != nil) // a folder
}

// A journal that is closed writes no file any more, so that its directory can be removed.
func TestJournalCloses(t *testing.T) {
	t.Parallel()
	is, dir := is.New(t), t.TempDir()
	c, j := resumed(t, dir, sim.Options{})
	is.NoErr(j.Close())
	is.NoErr(os.RemoveAll(dir))
	is.True(errors.Is(j.Keep(c), os.ErrClosed))
	ask(c, "POST", maps, "", `{"metadata":{"name":"a"}}`)
	_, err := os.Stat(dir)
	is.True(errors.Is(err, os.ErrNotExist))
}

// TestAppend checks that changes which are appended to the file of a closed Journal are part of it, after a torn end is removed.
func TestAppend(t *testing.T) {
	t.Parallel()
	is, path := is.New(t), filepath.Join(t.TempDir(), "journal")
	c, err := sim.New(sim.Options{Bare: true})
	is.NoErr(err)
	j, _, err := archive.OpenJournal(path, false)
	is.NoErr(err)
	is.NoErr(j.Keep(c))
	is.NoErr(j.Close())
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	is.NoErr(err)
	_, err = f.WriteString("*3\r\n$3\r\nset\r\n$8\r\nput")
	is.NoErr(err)
	is.NoErr(f.Close())
	next, value := c.Revision()+1, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"default"}}`
	is.NoErr(archive.Append(path, []sim.Change{{Kind: "put", Rev: next, At: c.Clock().Now(), Key: "/registry/configmaps/default/a", Value: []byte(value)}}))
	a, err := archive.Open(path)
	is.NoErr(err)
	is.Equal(a.Info().Torn, "")
	is.Equal(a.Info().Newest, next)
	again, err := a.Cluster()
	is.NoErr(err)
	is.True(strings.Contains(ask(again, "GET", maps+"/a", "", ""), `"name":"a"`))
}
