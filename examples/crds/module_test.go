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

// dirs is the module cache's directory of each module that was asked for.
var dirs sync.Map // path@version -> func() (string, error)

// moduleDir returns the directory of a module in the module cache, and has the go command download it before if it is
// not there. A module that cannot be had fails the test: it is no test if it may be left out.
func moduleDir(tb testing.TB, module string) string {
	tb.Helper()
	once, _ := dirs.LoadOrStore(module, sync.OnceValues(func() (string, error) { return download(module) }))
	dir, err := once.(func() (string, error))()
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

// download asks the go command. It is outside of every module, so go.mod here neither decides the version nor changes.
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
