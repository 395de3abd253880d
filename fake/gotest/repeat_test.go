package gotest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

// An interrupt ends the run with the current seed and all further runs. The record has the number of seeds that ran to their end.
func TestRepeatInterrupted(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	binary := filepath.Join(dir, "binary")
	is.NoErr(os.WriteFile(binary, []byte("#!/bin/sh\n[ $KUBESIM_GOTEST_SEED = 3 ] && kill -INT $PPID && exec sleep 60\nexit 0\n"), 0o700))
	for name, value := range map[string]string{recordsVariable: dir, repeatVariable: "9", timeoutVariable: "1m", "KUBESIM_GOTEST_SEED": "1"} {
		t.Setenv(name, value)
	}
	f := newForwarder()
	defer f.close()
	code, err := repeat(f, []string{binary}, time.Now())
	is.NoErr(err)
	is.Equal(code, 1)
	files, err := filepath.Glob(filepath.Join(dir, "record-*.json"))
	is.NoErr(err)
	is.Equal(len(files), 1)
	text, err := os.ReadFile(files[0])
	is.NoErr(err)
	var rec record
	is.NoErr(json.Unmarshal(text, &rec))
	is.Equal(rec.Seeds, 2)
	is.True(strings.HasSuffix(rec.Report, "no test fails with the seeds 1 to 2\n"))
}
