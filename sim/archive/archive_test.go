package archive_test

import (
	"bytes"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/archive"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/trace"
	"github.com/kubesim/kubesim/sim/wire"
)

const maps = "/api/v1/namespaces/default/configmaps"

// ask sends a request and returns the body of the response.
func ask(c *sim.Cluster, method, path, query, body string) string {
	q := &apiserver.Request{Method: method, Path: path, Header: wire.Header{"Content-Type": {"application/json"}}, Body: []byte(body)}
	q.Query, _ = url.ParseQuery(query)
	var text string
	c.Server(1).Start(q, func(a *apiserver.Answer) { text = string(a.Body.Bytes()) })
	return text
}

// saved returns a cluster with a history and its archive. Its revisions 4005 to 4008 are one minute apart: create a, create b,
// delete a, create c.
func saved(t testing.TB, o sim.Options) (*sim.Cluster, []byte) {
	t.Helper()
	c, err := sim.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range [][3]string{{"POST", maps, `{"metadata":{"name":"a"}}`}, {"POST", maps, `{"metadata":{"name":"b"}}`},
		{"DELETE", maps + "/a", ""}, {"POST", maps, `{"metadata":{"generateName":"c-"}}`}} {
		c.Clock().(*clock.Manual).Advance(time.Minute)
		ask(c, x[0], x[1], "", x[2])
	}
	var b bytes.Buffer
	if err := archive.Write(&b, c); err != nil {
		t.Fatal(err)
	}
	return c, b.Bytes()
}

func must(t testing.TB, data []byte) *archive.Archive {
	t.Helper()
	a, err := archive.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// An archive can be opened at any revision and any time in its history.
func TestTimeTravel(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c, data := saved(t, sim.Options{Seed: 3, Bare: true})
	a := must(t, data)
	info := a.Info()
	is.Equal([]uint64{info.Oldest, info.Newest, info.Options.Seed}, []uint64{4000, 4008, 3})
	is.Equal(info.Time, clock.Epoch().Add(4*time.Minute))
	names := func(c *sim.Cluster, err error) string {
		t.Helper()
		is.NoErr(err)
		var found []string
		for _, name := range []string{"a", "b"} {
			if !strings.Contains(ask(c, "GET", maps+"/"+name, "", ""), "NotFound") {
				found = append(found, name)
			}
		}
		return strings.Join(found, " ") + c.Clock().Now().Format(" 15:04:05")
	}
	is.Equal(names(a.Cluster()), "b 00:04:00")
	is.Equal(names(a.ClusterAt(4006)), "a b 00:02:00")
	is.Equal(names(a.ClusterAt(4005)), "a 00:01:00")
	is.Equal(names(a.ClusterAtTime(clock.Epoch().Add(150*time.Second))), "a b 00:02:30")
	is.Equal(names(a.ClusterAtTime(info.Time)), "b 00:04:00")
	_, err := a.ClusterAtTime(info.Time.Add(1))
	is.True(strings.Contains(err.Error(), "from 2026-01-01T00:00:00Z to 2026-01-01T00:04:00Z")) // the range of saved times
	_, err = a.ClusterAt(4009)
	is.True(strings.Contains(err.Error(), "from 4000 to 4008"))

	want := ask(c, "GET", maps, "", "")
	then, err := a.ClusterAt(4007)
	is.NoErr(err)
	then.Clock().(*clock.Manual).Advance(time.Minute)
	ask(then, "POST", maps, "", `{"metadata":{"generateName":"c-"}}`)
	is.Equal(ask(then, "GET", maps, "", ""), want) // the same name and uid, and b with its managed fields
}

// Save replaces a file atomically, and errors about a file contain its name.
func TestFile(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c, data := saved(t, sim.Options{})
	path := filepath.Join(t.TempDir(), "a.kubesim")
	is.NoErr(os.WriteFile(path, []byte("old"), 0o600))
	_, err := archive.Open(path)
	is.True(err != nil && strings.Contains(err.Error(), "a.kubesim: archive: the file is damaged, or not an archive: at byte 0"))
	is.NoErr(archive.Save(path, c))
	_, err = archive.Open(path)
	is.NoErr(err)
	got, err := os.ReadFile(path)
	is.NoErr(err)
	is.True(bytes.Equal(got, data))
	entries, err := os.ReadDir(filepath.Dir(path))
	is.NoErr(err)
	is.Equal(len(entries), 1) // nothing else is left
	is.True(archive.Save(filepath.Join(path, "x"), c) != nil)
}

// Search returns records by object, time and resource, in chronological order.
func TestSearch(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c, err := sim.New(sim.Options{Trace: 1000})
	is.NoErr(err)
	is.NoErr(c.AddFaults(fault.On("create", "*").Nth(2).CommitThenFail(fault.Timeout)))
	for _, name := range []string{"a", "b", "aa"} {
		for _, path := range []string{maps, "/api/v1/namespaces/default/secrets"} {
			c.Clock().(*clock.Manual).Advance(time.Minute)
			ask(c, "POST", path, "", `{"metadata":{"name":"`+name+`"}}`)
		}
	}
	var b bytes.Buffer
	is.NoErr(archive.Write(&b, c))
	a := must(t, b.Bytes())
	all := c.Trace().Records
	is.Equal(a.Info().Records, len(all))
	start := clock.Epoch()
	for _, q := range []archive.Query{
		{}, {What: "configmaps"}, {What: "configmaps", Key: "default/a"}, {Key: "default/a"}, {What: "none"},
		{Site: trace.StoreCommitted}, {Site: trace.Fault}, {Site: trace.StoreCommitted, What: "secrets"},
		{From: start.Add(2 * time.Minute), Until: start.Add(3 * time.Minute)}, {Until: start.Add(time.Minute)},
		{From: start.Add(3 * time.Minute), What: "configmaps", Limit: 2}, {From: start.Add(time.Hour)},
	} {
		var want []trace.Record
		for _, r := range all {
			if (q.What == "" || r.What == q.What) && (q.Key == "" || r.Key == q.Key) && (q.Site == "" || r.Site == q.Site) &&
				!r.At.Before(q.From) && (q.Until.IsZero() || !r.At.After(q.Until)) && (q.Limit == 0 || len(want) < q.Limit) {
				r.Before, r.After = nil, nil // the file has each state once, in its history
				want = append(want, r)
			}
		}
		got, err := a.Search(q)
		is.NoErr(err)
		is.Equal(got, want)
	}
}

// Read accepts or rejects any file without a panic, and so does Cluster for an archive that Read accepted.
func FuzzRead(f *testing.F) {
	_, data := saved(f, sim.Options{Bare: true, Replicas: make([]sim.ReplicaOptions, 2), Trace: 10, NoHashes: true})
	f.Add(data)
	f.Add([]byte("*3\r\n$3\r\nset\r\n$7\r\ncluster\r\n$2\r\n{}\r\n"))
	f.Add([]byte("*3\r\n$3\r\nset\r\n$99999999999\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := archive.Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		c, err := a.Cluster()
		if err != nil {
			return
		}
		ask(c, "GET", maps, "", "")
		ask(c, "POST", maps, "", `{"metadata":{"generateName":"c-"}}`)
		var b bytes.Buffer
		if err := archive.Write(&b, c); err != nil {
			t.Fatal(err)
		}
		must(t, b.Bytes())
	})
}

// Read rejects a damaged document of an archive, or the damage is harmless.
func TestDamage(t *testing.T) {
	t.Parallel()
	_, data := saved(t, sim.Options{Bare: true, Trace: 10, NoHashes: true})
	read := 0
	for i := 0; i < len(data); i += 37 {
		for _, change := range []byte{'0', '"', 'z'} {
			hurt := bytes.Clone(data)
			hurt[i] = change
			a, err := archive.Read(bytes.NewReader(hurt))
			if err != nil {
				continue
			}
			read++
			if c, err := a.Cluster(); err == nil {
				ask(c, "GET", maps, "", "")
			}
		}
	}
	if read == 0 {
		t.Error("nothing was read: the damages hit nothing but the form")
	}
}
