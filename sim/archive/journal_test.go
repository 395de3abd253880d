package archive_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/archive"
	"github.com/matryer/is"
)

// resumed opens the journal in a folder and starts a cluster over what is in it.
func resumed(t *testing.T, dir string, o sim.Options) (*sim.Cluster, *archive.Journal) {
	t.Helper()
	j, state, err := archive.OpenJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	var c *sim.Cluster
	if state == nil {
		c, err = sim.New(o)
	} else {
		c, err = sim.Resume(state, o)
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

// everything is what a client sees of the objects that the tests write.
func everything(c *sim.Cluster) string {
	all := ask(c, "GET", maps, "", "") + ask(c, "GET", "/apis/x.io/v1/ws", "", "") +
		ask(c, "GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ws.x.io", "", "") +
		ask(c, "GET", "/api/v1/namespaces/default/events", "", "") + ask(c, "GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles", "", "")
	return all
}

// Whoever stored something finds it again, with its revisions, after the end of the process: without Close.
func TestJournal(t *testing.T) {
	t.Parallel()
	is, dir := is.New(t), filepath.Join(t.TempDir(), "default.etcd")
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
	is.True(!strings.Contains(uid, uidOf(ask(c, "POST", maps, "", `{"metadata":{"name":"d"}}`)))) // draws begin anew, with others
	is.Equal(c.Revision(), rev+1)
	before = everything(c)

	c, j := resumed(t, dir, sim.Options{})
	is.Equal(everything(c), before)
	is.NoErr(j.Close())
	c.Clock().(*clock.Manual).Advance(2 * time.Hour)
	is.True(!strings.Contains(everything(c), `"name":"e"`)) // the lease of an event goes on
}

func uidOf(answer string) string {
	_, rest, _ := strings.Cut(answer, `"uid":"`)
	uid, _, _ := strings.Cut(rest, `"`)
	return uid
}

// A definition whose objects were being deleted when the process ended goes with the next one.
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

// Wherever the process was cut off while it wrote, the next one finds all whole commits before; a log that is damaged
// elsewhere is refused.
func TestJournalCutOff(t *testing.T) {
	t.Parallel()
	is, dir := is.New(t), t.TempDir()
	c, _ := resumed(t, dir, sim.Options{Bare: true})
	first := c.Revision()
	for _, name := range []string{"a", "b"} {
		ask(c, "POST", maps, "", `{"metadata":{"name":"`+name+`"}}`)
	}
	path := filepath.Join(dir, "000001.log")
	log, err := os.ReadFile(path)
	is.NoErr(err)
	found := map[uint64]bool{}
	for n := range len(log) + 1 {
		is.NoErr(os.WriteFile(path, log[:n], 0o600))
		j, state, err := archive.OpenJournal(dir)
		is.NoErr(err)
		found[state.Store.Rev()-first] = true
		is.NoErr(j.Close())
	}
	is.Equal(found, map[uint64]bool{0: true, 1: true, 2: true})

	for old, now := range map[string]string{"put:": "pot:", "4006": "4009", `{"kind"`: `{{kind"`, `"/registry/`: `"/etc/passw`} {
		is.NoErr(os.WriteFile(path, []byte(strings.Replace(string(log), old, now, 1)), 0o600))
		_, _, err := archive.OpenJournal(dir)
		is.True(err != nil) // damaged
	}
}

// A process that ends while Keep writes leaves what there was before: the next generation's log, and half of its archive,
// count for nothing.
func TestJournalKeepCutOff(t *testing.T) {
	t.Parallel()
	is, dir := is.New(t), t.TempDir()
	c, _ := resumed(t, dir, sim.Options{Bare: true})
	ask(c, "POST", maps, "", `{"metadata":{"name":"a"}}`)
	before := everything(c)
	for name, text := range map[string]string{"000002.log": "*3\r\n$3\r\nset", "000002.archive.part": "*3\r\n", "7.archive": "not ours"} {
		is.NoErr(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	c, _ = resumed(t, dir, sim.Options{Bare: true})
	is.Equal(everything(c), before)
	ask(c, "POST", maps, "", `{"metadata":{"name":"b"}}`)
	before = everything(c)
	_, err := os.Stat(filepath.Join(dir, "000001.archive"))
	is.True(os.IsNotExist(err)) // replaced, and removed

	// Between the new archive and the removal of the old one both are there: the newer counts.
	is.NoErr(os.WriteFile(filepath.Join(dir, "000001.archive"), []byte("old"), 0o600))
	c, _ = resumed(t, dir, sim.Options{Bare: true})
	is.Equal(everything(c), before)
}
