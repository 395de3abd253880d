package archive_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/archive"
)

// painted returns a cluster in which a ConfigMap was red and is now blue.
func painted() *sim.Cluster {
	c, err := sim.New(sim.Options{Bare: true})
	if err != nil {
		panic(err)
	}
	ask(c, "POST", maps, "", `{"metadata":{"name":"a"},"data":{"color":"red"}}`)
	ask(c, "PUT", maps+"/a", "", `{"metadata":{"name":"a"},"data":{"color":"blue"}}`)
	return c
}

// A saved cluster can be opened at each revision since the last compaction.
func ExampleRead() {
	c := painted()
	var file bytes.Buffer
	if err := archive.Write(&file, c); err != nil {
		panic(err)
	}
	a, err := archive.Read(&file)
	if err != nil {
		panic(err)
	}
	for _, back := range []uint64{1, 0} {
		then, err := a.ClusterAt(c.Revision() - back)
		if err != nil {
			panic(err)
		}
		fmt.Println(bytes.Contains([]byte(ask(then, "GET", maps+"/a", "", "")), []byte("red")))
	}
	// Output:
	// true
	// false
}

func ExampleOpen() {
	dir, err := os.MkdirTemp("", "archive")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "history")
	if err := archive.Save(file, painted()); err != nil {
		panic(err)
	}
	a, err := archive.Open(file)
	if err != nil {
		panic(err)
	}
	c, err := a.Cluster()
	fmt.Println(c.Revision(), err)
	// Output: 4006 <nil>
}

// A journal contains each commit before a client can see it. The next process that opens it continues from there, even if the last
// one crashed.
func ExampleOpenJournal() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "journal")
	for range 2 {
		j, a, err := archive.OpenJournal(file, false)
		if err != nil {
			panic(err)
		}
		c, err := sim.New(sim.Options{Bare: true})
		if a != nil {
			c, err = sim.Resume(a.State(), sim.Options{Bare: true})
		}
		if err != nil {
			panic(err)
		}
		if err := j.Keep(c); err != nil {
			panic(err)
		}
		ask(c, "POST", maps, "", `{"metadata":{"generateName":"a-"}}`)
		fmt.Println(bytes.Count([]byte(ask(c, "GET", maps, "", "")), []byte(`"generateName"`)))
		j.Close() // as after a kill: nothing else is written
	}
	// Output:
	// 1
	// 2
}
