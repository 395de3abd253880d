package fake_test

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

// TestOutcomeCounts checks that Counts finds an object that was deleted and created again.
func TestOutcomeCounts(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	same := &fake.Outcome{Counts: true}
	run := func(again int) string {
		bad, srv, c := watched(t, fake.Options{Trace: 1000})
		c.do("POST", mapsPath, ownedMap("a", "", "0000"))
		c.do("POST", mapsPath, ownedMap("", "g-", "0000"))
		for range again {
			c.do("DELETE", mapsPath+"/a", "")
			c.do("POST", mapsPath, ownedMap("a", "", "0000"))
		}
		same.Compare(bad, srv, "configmaps")
		return bad.log.String()
	}
	is.Equal(run(1), "")
	is.Equal(run(1), "")
	is.Equal(run(0), "") // it was not deleted and created again
	is.True(strings.Contains(run(2), "(-):\n- configmaps default/a: created 2 times, deleted 1 times\n+ configmaps default/a: created 3 times, deleted 2 times\n"))
}

// TestOutcomeOfNamesWithUIDs checks that a uid in a name, such as that of a PersistentVolume, is not a difference.
func TestOutcomeOfNamesWithUIDs(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	same := &fake.Outcome{Counts: true}
	run := func(names ...string) string {
		bad, srv, c := watched(t, fake.Options{Trace: 1000})
		for _, name := range names {
			c.do("POST", mapsPath, ownedMap(name, "", "0000"))
		}
		same.Compare(bad, srv, "configmaps")
		return bad.log.String()
	}
	const a, b = "pvc-303256fb-db8d-4518-ba03-75e7be00b43b", "pvc-8d5d02f9-51db-411a-bb6e-23a7e93c0518"
	is.Equal(run(a), "")
	is.Equal(run(b), "")
	is.True(strings.Contains(run(a, b), "+ configmaps default/pvc-UID: created 2 times, deleted 0 times\n"))
}

// TestOutcomeWithout checks that the fields of Without are not compared.
func TestOutcomeWithout(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	same := &fake.Outcome{Without: []string{"order"}}
	run := func(data string) string {
		bad, srv, c := watched(t)
		c.do("POST", mapsPath, `{"metadata":{"name":"a"},"data":`+data+`}`)
		same.Compare(bad, srv, "configmaps")
		return bad.log.String()
	}
	is.Equal(run(`{"order":"1 2","sum":"3"}`), "")
	is.Equal(run(`{"order":"2 1","sum":"3"}`), "")
	is.True(strings.Contains(run(`{"order":"1 2","sum":"4"}`), `data.sum: "3" → "4"`))
}

// TestOutcomeOfConditions checks that a different order of conditions is not a difference. Their order depends only on
// when they first occurred.
func TestOutcomeOfConditions(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	state := func(conditions string) string {
		_, srv, c := watched(t)
		c.do("POST", podsPath, `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
		c.mergePatch(podsPath+"/a/status", `{"status":{"conditions":[`+conditions+`]}}`)
		return srv.State("pods")
	}
	const ready, started, late = `{"type":"Ready","status":"True"}`, `{"type":"Initialized","status":"True"}`, `{"type":"Ready","status":"False"}`
	is.Equal(state(ready+","+started), state(started+","+ready))
	is.True(state(ready+","+started) != state(started+","+late))
}
