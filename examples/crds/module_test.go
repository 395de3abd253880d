package crds

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
)

// dirs contains the module cache's directory of each requested module.
var dirs sync.Map // path@version -> func() (string, error)

// moduleDir returns the directory of a module in the module cache. It downloads the module if necessary. If that fails, it fails
// the test: a test that is skipped silently would be useless.
func moduleDir(tb testing.TB, module string) string {
	tb.Helper()
	once, _ := dirs.LoadOrStore(module, sync.OnceValues(func() (string, error) { return download(module) }))
	dir, err := once.(func() (string, error))()
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

// download runs go mod download. It runs outside of every module, so that this module's go.mod neither determines the version nor
// changes.
func download(module string) (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Dir = os.TempDir()
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GO111MODULE=on")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, failed := cmd.Output()
	var answer struct{ Dir, Error string }
	if err := json.Unmarshal(out, &answer); err == nil && answer.Dir != "" {
		return answer.Dir, nil
	}
	if answer.Error == "" {
		answer.Error = fmt.Sprintf("%v: %s", failed, bytes.TrimSpace(stderr.Bytes()))
	}
	return "", fmt.Errorf("%s is not in the module cache, and could not be downloaded: %s\n"+
		"these tests read CRDs out of it; run \"go mod download %s\" once where a Go module proxy can be reached "+
		"(go env GOPROXY, GOMODCACHE)", module, answer.Error, module)
}
