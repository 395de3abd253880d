package scenario

import (
	"strings"
	"testing"
)

func TestTry(t *testing.T) {
	w, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(`replicas 2
create cm a --from-literal k=v --as alice
watch cm --rv=0 --name w --as bob --via 2
get cm a -o yaml
list cm -o table
! create cm a
apply -f x.yaml --as carol
lag 2
patch cm a -p '{"data":{"k":"w"}}' --as dave
list cm --via 2 --as eve
resume 2
delete cm a --as alice
tick 1m
expire
get cm --rv=4005 --rv-match=Exact
request GET /version`, "\n") {
		op, err := Parse(line)
		if err != nil {
			t.Fatal(line, err)
		}
		if strings.HasPrefix(line, "apply") {
			op.Files = map[string]string{"x.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: b}\n"}
		}
		r, err := w.Do(op)
		t.Log("> "+op.String(), err)
		for _, l := range r.Lines {
			t.Log(l)
		}
		if r.Failure != "" {
			t.Log("FAIL", r.Failure)
		}
	}
	for _, f := range w.Frames(0) {
		t.Log(string(f.AppendJSON(nil)))
	}
}
