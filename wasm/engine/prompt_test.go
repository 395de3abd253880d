package engine

import (
	"testing"

	"github.com/matryer/is"
)

// The prompt of a page accepts kubectl commands, completes them, and splits pasted text into operations.
func TestPrompt(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	p.must("boot")
	ops := list(p.data("paste", "line", "kubectl apply -f - <<EOF\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: paint}\nEOF\nkubectl get cm")["ops"])
	is.Equal(len(ops), 2)
	var said any
	for _, op := range ops {
		said = at(p.must("do", "op", op), "result.lines")
	}
	is.Equal(said.([]any)[0], "   NAME    DATA   AGE") // what the real kubectl prints
	v := p.data("complete", "line", "kubectl delete configmap p")
	is.Equal(list(v["items"])[0]["text"], "paint") // names of objects
	is.Equal(v["prefix"], "paint")
	is.Equal(v["from"], 25.0)
	v = p.data("complete", "line", "! kubectl apply -f conf")
	is.Equal(v["prefix"], "configmap-paint.yaml") // names of files
}
