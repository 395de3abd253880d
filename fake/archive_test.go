package fake_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

// TestArchiveAfterClose checks that a server that was closed continues from its file in the same state: time, random
// numbers, events that a watch may still request, and RBAC rules.
func TestArchiveAfterClose(t *testing.T) {
	t.Parallel()
	is, file := is.New(t), filepath.Join(t.TempDir(), "world")
	const configmaps = "/api/v1/namespaces/default/configmaps"
	first := fake.RunT(t, fake.Options{Archive: file, Seed: 7, Nodes: 1})
	from := first.Revision()
	answer(t, first, "POST", configmaps, `{"metadata":{"name":"a"}}`)
	first.Clock.Advance(time.Hour)
	image, err := first.Snapshot()
	is.NoErr(err)
	first.Close()
	is.NoErr(first.DataError())
	on, err := fake.New(fake.Options{Snapshot: image})
	is.NoErr(err)
	defer on.Close()
	second := fake.RunT(t, fake.Options{Archive: file, ArchiveSync: true})
	is.Equal(second.DataTorn(), "")
	is.Equal(second.Clock.Now(), on.Clock.Now())
	is.True(second.Revision() > from)
	for _, srv := range []*fake.Server{on, second} { // the same random numbers
		code, _, _ := answer(t, srv, "POST", configmaps, `{"metadata":{"generateName":"b-"}}`)
		is.Equal(code, 201)
	}
	_, _, want := answer(t, on, "GET", configmaps, "")
	_, _, got := answer(t, second, "GET", configmaps, "")
	is.Equal(got, want)
}

// TestArchiveWithoutClose checks that a server that was not closed leaves all its commits in the file. If the end of
// the file is torn, a new server has the commits before it and reports the problem.
func TestArchiveWithoutClose(t *testing.T) {
	t.Parallel()
	is, file := is.New(t), filepath.Join(t.TempDir(), "world")
	const configmaps = "/api/v1/namespaces/default/configmaps"
	first := fake.RunT(t, fake.Options{Archive: file})
	for _, name := range []string{"a", "b"} {
		answer(t, first, "POST", configmaps, `{"metadata":{"name":"`+name+`"}}`)
	}
	data, err := os.ReadFile(file)
	is.NoErr(err)

	again := filepath.Join(t.TempDir(), "world")
	is.NoErr(os.WriteFile(again, data, 0o600))
	second := fake.RunT(t, fake.Options{Archive: again})
	is.Equal(second.Revision(), first.Revision())
	is.Equal(found(t, second, configmaps+"/b"), 200)

	is.NoErr(os.WriteFile(again, data[:len(data)-1], 0o600))
	third := fake.RunT(t, fake.Options{Archive: again})
	is.Equal(third.Revision(), first.Revision()-1)
	is.True(strings.Contains(third.DataTorn(), "is incomplete"))
	_, err = os.Stat(again + ".torn")
	is.NoErr(err)

	_, err = fake.New(fake.Options{Archive: t.TempDir()})
	is.True(err != nil && strings.HasPrefix(err.Error(), "kubesim: Options.Archive: "))
}
