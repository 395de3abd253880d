package engine

import (
	"strings"
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

// TestPortForward reaches a pod through kubectl port-forward and curl.
func TestPortForward(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	p.must("boot", "controllers", []string{"*"}, "nodes", 1, "whole", true)
	said := func(line string) (out string) {
		for _, l := range at(p.do(line), "result.lines").([]any) {
			out += l.(string) + "\n"
		}
		return out
	}
	said("kubectl create deployment web --image=nginx --port=80")
	is.True(strings.Contains(said("kubectl port-forward deploy/web 8080:80"), "pod is not running. Current status=Pending"))
	said("kubectl rollout status deploy/web")
	said("kubectl expose deploy web --port=8000 --target-port=80")
	is.Equal(said("kubectl port-forward deploy/web 8080:80"), "   Forwarding from 127.0.0.1:8080 -> 80\n   Forwarding from [::1]:8080 -> 80\n")
	is.Equal(said("kubectl port-forward svc/web 9000:1"), "   error: Service web does not have a service port 1\n")
	is.Equal(said("kubectl port-forward svc/web 9000:8000"), "   Forwarding from 127.0.0.1:9000 -> 80\n   Forwarding from [::1]:9000 -> 80\n")
	is.True(strings.HasSuffix(said("curl -s http://localhost:8080/a?b=c"), "answers GET /a?b=c\n"))
	is.True(strings.HasSuffix(said(`curl -s -w '%{http_code}\n' -o /dev/null localhost:9000`), "   200\n"))
	is.True(strings.Contains(said("curl -s localhost:8081"), `"paths"`)) // any other address is that of the API server
	p.do("kubectl delete pod -l app=web --wait=false", "tick settled")
	is.True(strings.Contains(said("curl -s localhost:8080"), "Failed to connect to localhost port 8080"))
}
