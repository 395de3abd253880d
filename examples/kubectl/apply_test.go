package kubectl

import (
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// In a client-side apply, kubectl compares the last applied configuration, the stored object and the new configuration, and sends a
// patch.
func TestApply(t *testing.T) {
	is := is.New(t)
	_, k := start(t)
	is.Equal(k.do("apply -f "+k.file(web)), "deployment.apps/web created\n")
	is.Equal(k.do("apply -f "+k.file(web)), "deployment.apps/web unchanged\n") // the second time there is nothing to do
	k.do("label deployment web by=hand")

	changed := strings.Replace(web, "nginx:1", "nginx:2", 1)
	is.Equal(k.do("apply --dry-run=server -f "+k.file(changed)), "deployment.apps/web configured (server dry run)\n")
	is.Equal(k.do("get deployment web -o jsonpath={.spec.template.spec.containers[*].image}"), "nginx:1 envoy:1") // a dry run changes nothing
	is.Equal(k.do("apply -f "+k.file(changed)), "deployment.apps/web configured\n")
	is.Equal(k.do("get deployment web -o jsonpath={.spec.template.spec.containers[*].image}"), "nginx:2 envoy:1")
	is.Equal(k.do("get deployment web -o jsonpath={.metadata.labels.by}"), "hand") // what others wrote stays
}

// In a server-side apply, the server records the owner of each field.
func TestApplyServerSide(t *testing.T) {
	is := is.New(t)
	_, k := start(t)
	manifest := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {color: red}\n"
	is.Equal(k.do("apply --server-side -f "+k.file(manifest)), "configmap/settings serverside-applied\n")

	other := "apply --server-side --field-manager other -f " + k.file(strings.Replace(manifest, "red", "blue", 1))
	is.True(strings.Contains(k.fail(other), `conflict with "kubectl": .data.color`)) // it is not theirs
	is.Equal(k.do(other+" --force-conflicts"), "configmap/settings serverside-applied\n")
	is.Equal(k.do("get configmap settings -o jsonpath={.data.color}"), "blue")
}

func TestDiff(t *testing.T) {
	if _, err := exec.LookPath("diff"); err != nil {
		t.Skip("kubectl diff runs the command diff, which is not here")
	}
	is := is.New(t)
	_, k := start(t)
	k.do("apply -f " + k.file(web))
	is.NoErr(k.run(io.Discard, "diff -f "+k.file(web))) // no difference

	var out strings.Builder
	err := k.run(&out, "diff -f "+k.file(strings.Replace(web, "nginx:1", "nginx:2", 1)))
	is.True(err != nil) // a difference is an error, as with diff
	is.True(strings.Contains(out.String(), "-      - image: nginx:1\n+      - image: nginx:2\n"))
	is.Equal(k.do("get deployment web -o jsonpath={.spec.template.spec.containers[0].image}"), "nginx:1") // it was a dry run
}
