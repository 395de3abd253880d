//go:build !page

package scenario

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
)

// TB is the part of *testing.T that running scenarios needs.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// RunT runs the scenario in a file as a test. It runs it twice and compares the frames of both runs byte for byte. The
// test fails if the scenario fails or if its transcript differs from the one in the file. If the test binary has a flag
// -update that is set, or if KUBESIM_UPDATE=1 is in the environment, RunT rewrites the transcript instead.
func RunT(t TB, path string) *Outcome {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("kubesim: %v", err)
		return nil
	}
	f, err := ParseFile(data)
	if err != nil {
		t.Fatalf("kubesim: %s: %v", path, err)
		return nil
	}
	out, err := Run(f, RunOptions{})
	if err != nil {
		t.Fatalf("kubesim: %s: %v", path, err)
		return nil
	}
	again, err := Run(f, RunOptions{})
	switch {
	case err != nil || again.Hash != out.Hash:
		t.Errorf("kubesim: %s: two runs differ: %s", path, firstDifference(out.World.Frames(0), again.World.Frames(0)))
	case out.Failure != nil:
		t.Errorf("kubesim: %s, %v", path, out.Failure)
	case updating():
		f.Transcript = out.Transcript
		if err := os.WriteFile(path, f.Format(), 0o644); err != nil {
			t.Errorf("kubesim: %v", err)
		}
	case f.Transcript == "":
		t.Errorf("kubesim: %s has no transcript; run the test with -update to write it, and read it", path)
	default:
		if d := Difference(f.Transcript, out.Transcript); d != "" {
			t.Errorf("kubesim: %s: %s\nif this is right, run the test with -update", path, d)
		}
	}
	return out
}

// RunDir runs each scenario in a directory, *.txtar, as a subtest.
func RunDir[T interface {
	TB
	Run(name string, f func(T)) bool
}](t T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("kubesim: there is no scenario in %s (%v)", dir, err)
		return
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t T) { RunT(t, path) })
	}
}

// updating reports whether to rewrite transcripts.
func updating() bool {
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		return true
	}
	return os.Getenv("KUBESIM_UPDATE") == "1"
}
