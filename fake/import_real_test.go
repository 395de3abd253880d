package fake_test

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

// Dumps of a real server with its controllers, recorded by TestRecordImport of fake/kubectl, in the folder KUBESIM_CLUSTER or testdata.
var (
	realCluster = filepath.Join(cmp.Or(os.Getenv("KUBESIM_CLUSTER"), "testdata/import/real"), "cluster.json.gz")
	realEtcd    = filepath.Join(filepath.Dir(realCluster), "etcd.db.gz")
)

// TestImportReal checks that a real cluster is imported completely and reads back as it was, to the byte.
func TestImportReal(t *testing.T) {
	t.Parallel()
	_, want := realObjects(t)
	files := []string{realEtcd, realCluster}
	if testing.Short() {
		files = files[:1]
	}
	for _, file := range files {
		is := is.New(t)
		_, srv, _ := watched(t, fake.Options{NoControllers: true})
		done, err := srv.Import(file)
		is.NoErr(err)
		for _, p := range done.Refused {
			if !strings.Contains(p.Reason, "internal data of API servers") {
				t.Errorf("%s: %s", p.Place, p.Reason)
			}
		}
		sameObjects(t, file, srv, want)
	}
}
