package migrate

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	controllerruntime "sigs.k8s.io/controller-runtime"
)

// TestMain builds kubesim and uses its programs instead of those of envtest, so that nothing has to be downloaded.
func TestMain(m *testing.M) {
	controllerruntime.SetLogger(logr.Discard())
	dir, err := os.MkdirTemp("", "kubesim-migrate-")
	if err != nil {
		panic(err)
	}
	program := filepath.Join(dir, "kubesim")
	out, err := exec.Command("go", "build", "-o", program, "github.com/kubesim/kubesim/fake/cmd/kubesim").CombinedOutput()
	if err == nil {
		out, err = exec.Command(program, "envtest", "--dir", dir).Output()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "no programs for envtest: %v\n%s", err, out)
		os.Exit(1)
	}
	os.Setenv("KUBEBUILDER_ASSETS", strings.TrimSpace(string(out)))
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}
