package kubectl

import (
	"errors"
	"io"
	"io/fs"
	"testing"
	"time"

	"github.com/kubesim/kubesim/sim/kubectl/shell"
)

// one is a Conn that returns the same response to every request, and has a single file. Waiting advances its clock.
type one struct {
	answer, file []byte
	now          time.Duration
}

var errOnly = errors.New("there is nothing else")

func (o *one) Do(*Request) (*Answer, error) { return &Answer{Code: 200, Body: o.answer}, nil }
func (o *one) Watch(_ *Request, patience time.Duration, event func([]byte) bool) (*Answer, error) {
	event(o.answer)
	o.now += max(patience, time.Second)
	return nil, nil
}
func (o *one) Follow(_ *Request, event func([]byte)) (*Answer, error) {
	event(o.answer)
	return nil, nil
}
func (o *one) Exec(*Request, []byte, func(bool, []byte)) (*Answer, error) {
	return &Answer{Code: 200, Body: o.answer}, nil
}
func (o *one) Now() time.Time        { return time.Unix(1767225600, 0).Add(o.now) }
func (o *one) Sleep(d time.Duration) { o.now += max(d, time.Second) }

func (o *one) ReadFile(name string) ([]byte, error) {
	if name != "a.yaml" {
		return nil, fs.ErrNotExist
	}
	return o.file, nil
}
func (o *one) WriteFile(string, []byte) error { return errOnly }
func (o *one) Names(string) []string          { return []string{"a.yaml"} }

// FuzzLine runs arbitrary lines with arbitrary files and server responses. None of them may cause a panic.
func FuzzLine(f *testing.F) {
	const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`
	for _, line := range []string{"kubectl get pods -o wide --sort-by .metadata.name | grep a > x", "kubectl apply -f a.yaml --server-side", "kubectl describe pod a",
		"kubectl create cm c --from-literal a=b -o yaml --dry-run=client", "kubectl set image deploy/d *=x; kubectl rollout status deploy d --timeout 1s",
		"kubectl wait --for=jsonpath='{.a}'=b pod/a --timeout=1s && kubectl get -w po", "kubectl patch po a --type json -p '[{\"op\":\"remove\",\"path\":\"/a\"}]'",
		"cat <<E | kubectl create -f -\nkind: Pod\nE\n", "kubectl explain pods.spec --recursive", "kubectl run a --image i -- sh -c 'a b'", "curl -s $S/api | jq ."} {
		f.Add(line, []byte(pod), []byte(pod))
	}
	f.Add("kubectl get pods", []byte(`{"kind":"Table","columnDefinitions":[{"name":"A"}],"rows":[{"cells":[1,{}]}]}`), []byte("a: &a [*a]"))
	f.Fuzz(func(_ *testing.T, line string, answer, file []byte) {
		o := &one{answer: answer, file: file}
		s := &Session{Conn: o, Files: o, Config: &Config{Server: "http://a"}, Edit: func(_, text string) (string, error) { return text + " ", nil }}
		s.Line(line, io.Discard, io.Discard)
		shell.Paste(line)
	})
}
