package kubectl_test

import (
	"testing"

	"github.com/matryer/is"
)

// containers is a session of lines that were not recorded: the real kubectl copies with tar, which no simulated image has.
const containers = `# server: nodes
$ kubectl run box --image=busybox --restart=Never -- sleep 3600
pod/box created
$ kubectl wait --for=condition=Ready pod/box
pod/box condition met
$ echo "it's here" > note.txt
$ kubectl cp note.txt box:/tmp/
$ kubectl exec box -- cat /tmp/note.txt
it's here
$ kubectl cp box:/tmp/note.txt back.txt && cat back.txt
it's here
$ kubectl cp default/box:/tmp/nope back.txt
cat: can't open '/tmp/nope': No such file or directory
command terminated with exit code 1
[exit 1]
$ kubectl cp nope.txt box:/tmp/nope.txt
error: nope.txt doesn't exist in local filesystem
[exit 1]
$ kubectl cp a b
error: one of src or dest must be a remote file specification
[exit 1]
$ kubectl port-forward box 8080:80
error: this is not simulated: there is no port here to listen on
[exit 1]
`

// TestContainers runs the lines of containers.
func TestContainers(t *testing.T) {
	is := is.New(t)
	s := parseSession("containers", containers)
	is.Equal(len(s.steps), 10) // all lines are read
	replay(t, s, func(at *step, output string, code int) {
		if code != at.code || normal(output) != normal(at.output) {
			t.Errorf("line %d\n$ %s\n%s", at.number, at.line(), difference(at, output, code))
		}
	})
}
