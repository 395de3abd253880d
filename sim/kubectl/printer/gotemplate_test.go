//go:build !nocel

package printer

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/object"
)

// TestGoTemplate checks outputs and errors that were recorded from the real kubectl.
func TestGoTemplate(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	obj, err := object.Parse([]byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","creationTimestamp":null},"data":{"k":"v"}}`))
	is.NoErr(err)
	run := func(f PrintFlags) (string, error) {
		p, err := f.Printer()
		if err != nil {
			return "", err
		}
		var b strings.Builder
		err = p(&b, &client.Info{Object: obj})
		return b.String(), err
	}
	out, err := run(PrintFlags{Output: "go-template={{.metadata.name}}"})
	is.NoErr(err)
	is.Equal(out, "a") // without a line break
	out, err = run(PrintFlags{Template: "{{.kind}}"})
	is.NoErr(err)
	is.Equal(out, "ConfigMap") // --template is enough
	_, err = run(PrintFlags{Output: "go-template={{.kind"})
	is.Equal(err.Error(), "error parsing template {{.kind, template: output:1: unclosed action")
	_, err = run(PrintFlags{Output: "go-template={{nope}}"})
	is.Equal(err.Error(), `error parsing template {{nope}}, template: output:1: function "nope" not defined`)
	_, err = run(PrintFlags{Output: "go-template"})
	is.Equal(err.Error(), "template format specified but no template given")
	out, err = run(PrintFlags{Output: "go-template={{.kind.x}}"})
	is.Equal(err.Error(), `error executing template "{{.kind.x}}": template: output:1:7: executing "output" at <.kind.x>: can't evaluate field x in type interface {}`)
	is.True(strings.HasPrefix(out, "Error executing template: template: output:1:7: executing \"output\" at <.kind.x>: can't evaluate field x in type interface {}. "+
		"Printing more information for debugging the template:\n\ttemplate was:\n\t\t{{.kind.x}}\n\traw data was:\n\t\t{"))
	is.True(strings.HasSuffix(out, "\n\tobject given to template engine was:\n\t\tmap[apiVersion:v1 data:map[k:v] kind:ConfigMap metadata:map[creationTimestamp:<nil> name:a]]\n\n"))
}
