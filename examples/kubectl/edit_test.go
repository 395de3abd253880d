package kubectl

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// editor makes kubectl edit run a shell script instead of an editor. $1 is the file to edit.
func editor(t *testing.T, script string) {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("the editor of this test is a shell script, and there is no sh here")
	}
	name := filepath.Join(t.TempDir(), "editor")
	is.New(t).NoErr(os.WriteFile(name, []byte("#!"+sh+"\n"+script+"\n"), 0o700))
	t.Setenv("KUBE_EDITOR", name)
}

// kubectl edit reads an object, lets the editor change it, and sends the difference as a patch.
func TestEdit(t *testing.T) {
	is := is.New(t)
	_, k := start(t)
	k.do("create -f " + k.file(web))
	editor(t, `sed 's/nginx:1/nginx:2/' "$1" > "$1.new" && mv "$1.new" "$1"`)
	is.Equal(k.do("edit deployment web"), "deployment.apps/web edited\n")
	is.Equal(k.do("get deployment web -o jsonpath={.spec.template.spec.containers[*].image}"), "nginx:2 envoy:1")
	is.Equal(k.do("get deployment web -o jsonpath={.metadata.generation}"), "2") // the spec has changed, once
	is.Equal(k.do("get deployment web -o jsonpath={.metadata.managedFields[*].manager}"), "kubectl-create kubectl-edit")

	editor(t, "true")
	is.Equal(k.do("edit deployment web"), "") // "Edit cancelled, no changes made." is for stderr
	is.Equal(k.do("get deployment web -o jsonpath={.metadata.generation}"), "2")
}

// A rejected object is passed to the editor again with the reason at the top. If the editor does not correct it, kubectl edit ends.
func TestEditRefused(t *testing.T) {
	is := is.New(t)
	_, k := start(t)
	k.do("create -f " + k.file(web))
	seen := filepath.Join(t.TempDir(), "seen")
	editor(t, `cp "$1" `+seen+`; sed 's/replicas: 2/replicas: -2/' "$1" > "$1.new" && mv "$1.new" "$1"`)
	is.True(strings.Contains(k.fail("edit deployment web"), "Edit cancelled, no valid changes were saved."))
	text, err := os.ReadFile(seen)
	is.NoErr(err)
	is.True(strings.Contains(string(text), "spec.replicas: Invalid value: -2: must be greater than or equal to 0")) // why
	is.Equal(k.do("get deployment web -o jsonpath={.spec.replicas}"), "2")                                          // as it was
}
