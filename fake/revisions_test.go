package fake_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

// smallPod is a pod with two containers. Its name and a label have to be filled in.
const smallPod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"labels":{"app":"web","tier":"front","version":"v%d"},
"annotations":{"example.com/owner":"team-a"}},"spec":{"containers":[{"name":"main","image":"registry.example.com/web:1.2.3",
"ports":[{"name":"http","containerPort":8080}],"env":[{"name":"MODE","value":"production"}]},
{"name":"sidecar","image":"registry.example.com/proxy:4"}]}}`

// TestRevisionsTakeLittleMemory checks that the store keeps a new revision as its JSON and little else (TestOldValuesArePacked of
// sim/mvcc is about the older ones). It retains nothing of the request, of the parsed object or of the data sent to clients and watches.
// The test measures in a separate process: in this process the heap shrinks by megabytes when the garbage collector finds what
// earlier tests have left behind.
func TestRevisionsTakeLittleMemory(t *testing.T) {
	const inside = "KUBESIM_TEST_REVISIONS"
	if os.Getenv(inside) == "" {
		t.Parallel()
		program, err := os.Executable()
		is.New(t).NoErr(err)
		cmd := exec.Command(program, "-test.run=^TestRevisionsTakeLittleMemory$", "-test.v", fmt.Sprintf("-test.short=%t", testing.Short()))
		cmd.Env = append(os.Environ(), inside+"=1")
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		is.New(t).NoErr(err)
		return
	}
	sizes := []int{1, 100}
	if testing.Short() {
		sizes = sizes[:1]
	}
	for _, objects := range sizes {
		t.Run(fmt.Sprint(objects), func(t *testing.T) { measureRevisions(t, objects) })
	}
}

// measureRevisions updates pods 600 times while a client reads and watches them, and compares the growth of the heap with the
// size of the revisions in bytes.
func measureRevisions(t *testing.T, objects int) {
	is := is.New(t)
	srv := fake.RunT(t)
	c := client{t, srv}
	watched := c.open("/api/v1/namespaces/default/pods?watch=1")
	const pods = "/api/v1/namespaces/default/pods"
	size, n := 0, 1
	update := func(times int) {
		for range times {
			name := fmt.Sprintf("pod-%d", n%objects)
			code, _, text := c.ask("PUT", pods+"/"+name, "application/json", "", fmt.Sprintf(smallPod, name, n))
			is.Equal(code, 200)
			size += len(text)
			_, _, _ = c.ask("GET", pods+"/"+name, "", "application/vnd.kubernetes.protobuf", "")
			watched.next()
			n++
		}
	}
	for i := range objects {
		c.made(pods, fmt.Sprintf(smallPod, fmt.Sprintf("pod-%d", i), 0))
		watched.next()
	}
	update(100)
	before := heap()
	size = 0
	update(500)
	whole := float64(heap()-before) / float64(size)
	t.Logf("a revision of %d bytes takes %.2f of them", size/500, whole)
	is.True(whole > 0.5) // the measurement includes the revisions
	is.True(whole < 1.5)
	runtime.KeepAlive(srv)
}

// heap returns the number of heap bytes in use.
func heap() int64 {
	runtime.GC()
	runtime.GC() // frees what the first run found to be unused
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
