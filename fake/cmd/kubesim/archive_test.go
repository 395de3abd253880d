package main

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// A server with an archive continues from its previous state in the next process.
func TestArchive(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "world")
	s := serving(t, "--archive", file, "--clock", "manual", "--seed", "5", "--replica", "version=1.35")
	code, _ := s.do("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`)
	is.Equal(code, http.StatusCreated)
	_, now := s.do("POST", "/sim/v1/clock/advance?d=1h", "")
	exit, _ := s.stop()
	is.Equal(exit, 0)

	s = serving(t, "--archive", file, "--clock", "manual")
	code, _ = s.do("GET", "/api/v1/namespaces/default/configmaps/a", "")
	is.Equal(code, http.StatusOK)
	_, again := s.do("GET", "/sim/v1/clock", "")
	is.Equal(again, now)
	_, replicas := s.do("GET", "/sim/v1/replicas", "")
	is.True(strings.Contains(replicas, "v1.35"))
	s.stop()

	is.NoErr(os.WriteFile(file, []byte("x"), 0o600))
	var stdout, stderr bytes.Buffer
	is.Equal(program{&stdout, &stderr}.main(t.Context(), []string{"serve", "--archive", file}), 1)
	is.Equal(stdout.String(), "")
	is.True(strings.Contains(stderr.String(), file+": the file is damaged")) // which file, and what
}
