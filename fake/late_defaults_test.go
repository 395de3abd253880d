package fake_test

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

// TestLateDefaultsOutliveTheServer checks that a PUT of the status does not store the default labels of a
// ReplicationController. Readers see those of its template, and the next write stores them, also on a server that
// continues from a file.
func TestLateDefaultsOutliveTheServer(t *testing.T) {
	for name, options := range map[string]fake.Options{"data": {Data: t.TempDir()}, "archive": {Archive: t.TempDir() + "/a.kubesim"}} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			options.NoControllers = true
			const path = "/api/v1/namespaces/default/replicationcontrollers"
			srv, err := fake.New(options)
			is.NoErr(err)
			c := client{t, srv}
			c.must("POST", path, `{"metadata":{"name":"r"},"spec":{"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
			left := c.must("PUT", path+"/r/status", `{"metadata":{"name":"r"},"status":{"replicas":1}}`)
			is.Equal(left.Labels(), map[string]string{"a": "b"})
			srv.Close()

			srv, err = fake.New(options)
			is.NoErr(err)
			defer srv.Close()
			c = client{t, srv}
			read := c.must("GET", path+"/r", "")
			is.Equal(read, left)
			read = c.must("PUT", path+"/r", string(object.JSON(map[string]any(read))))
			is.True(read.ResourceVersion() != left.ResourceVersion()) // the write stores the labels
			is.Equal(c.must("PUT", path+"/r", string(object.JSON(map[string]any(read)))).ResourceVersion(), read.ResourceVersion())
		})
	}
}
