package kubectl_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	overhttp "github.com/kubesim/kubesim/fake/kubectl"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/kubectl"
	"github.com/kubesim/kubesim/sim/object"
)

// pipes is a listener whose connections are pipes, so that goroutines waiting on them are durably blocked in a synctest bubble.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// memory holds the files of a session.
type memory map[string][]byte

func (m memory) ReadFile(name string) ([]byte, error) {
	if data, ok := m[name]; ok {
		return data, nil
	}
	return nil, fs.ErrNotExist
}

func (m memory) WriteFile(name string, data []byte) error { m[name] = data; return nil }

func (m memory) Names(folder string) (out []string) {
	for _, name := range object.SortedKeys(m) {
		if folder == "" || strings.HasPrefix(name, folder+"/") {
			out = append(out, name)
		}
	}
	return out
}

// edit is the editor of the recordings: "sed -i s/a/b/", or "true", which changes nothing.
func edit(editor, text string) (string, error) {
	if script, ok := strings.CutPrefix(editor, "sed -i s/"); ok {
		old, now, _ := strings.Cut(strings.TrimSuffix(script, "/"), "/")
		return strings.ReplaceAll(text, old, now), nil
	}
	return text, nil
}

// replay runs the lines of a session against a new server, and calls got with the output of each.
func replay(t *testing.T, s *session, got func(at *step, output string, code int)) {
	synctest.Test(t, func(t *testing.T) {
		o := fake.Options{Clock: clock.System{}, Auth: auth.RBAC, NoControllers: !s.nodes}
		if s.nodes {
			o = fake.Options{Clock: clock.System{}, Nodes: 3, Controllers: controller.All}
		}
		srv := fake.RunT(t, o)
		listener := make(pipes)
		server := &http.Server{Handler: srv.Handler()}
		go func() { _ = server.Serve(listener) }()
		transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			listener <- there
			return here, nil
		}}
		ctx, cancel := context.WithCancel(t.Context())
		defer func() {
			cancel()
			transport.CloseIdleConnections()
			close(listener)
			_ = server.Close()
		}()
		k := &kubectl.Session{Conn: overhttp.Dial(ctx, "http://server", transport, "admintoken"), Files: memory{}, Edit: edit,
			Config: &kubectl.Config{Server: "http://SERVER", Cluster: "sim", User: "admin", Current: "sim",
				Contexts: []kubectl.Context{{Name: "sim", Cluster: "sim", User: "admin"}}}}
		for _, at := range s.steps {
			var out bytes.Buffer
			code := k.Line(at.line(), &out, &out)
			got(at, out.String(), code)
		}
	})
}

// varying lists patterns of values that differ between runs, and their replacements.
var varying = []struct {
	pattern *regexp.Regexp
	label   string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "<uid>"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(Z| \+0000 UTC)`), "<time>"},
	{regexp.MustCompile(`[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \+0000`), "<time>"},
	{regexp.MustCompile(`W\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ `), "W<time> "},
	{regexp.MustCompile(`(containerd://|sha256:)[0-9a-f]{64}`), "$1<id>"},
	{regexp.MustCompile(`\b(Machine ID|System UUID|Boot ID):( +)[0-9a-f-]{32,36}`), "$1:$2<id>"},
	{regexp.MustCompile(`10\.\d+\.\d+\.\d+`), "<ip>"},
	{regexp.MustCompile(`Resource Version:( +)\d+`), "Resource Version:$1<rv>"},
	{regexp.MustCompile(`\b(web|hello|shop|db|agent|now|once|manual)-[0-9a-f]{8,10}-[bcdfghjklmnpqrstvwxz2456789]{5}\b`), "$1-<pod>"},
	{regexp.MustCompile(`\b(web|hello|shop|agent|once|now)-[bcdfghjklmnpqrstvwxz2456789]{5}\b`), "$1-<pod>"},
	{regexp.MustCompile(`\b(web|hello|shop|db)-[0-9a-f]{8,10}\b`), "$1-<hash>"},
	{regexp.MustCompile(`pod-template-hash=[0-9a-f]{8,10}`), "pod-template-hash=<hash>"},
	{regexp.MustCompile(`\b(\d+[dhm])?\d+[smhd]( \(x\d+ over \d+[sm]\))?( ago)?(\s|$)`), "<age>$4"},
	{regexp.MustCompile(`exec "[0-9a-f]{64}"`), `exec "<id>"`},
	{regexp.MustCompile(`debugger-[a-z0-9]{5}`), "debugger-<id>"},
	{regexp.MustCompile(`in \d+(\.\d+)?(ms|s) \(\d+(\.\d+)?(ms|s) including waiting\)`), "in <duration>"},
	{regexp.MustCompile(`NodePort( +)<unset>( +)\d+`), "NodePort$1<unset>$2<port>"},
	{regexp.MustCompile(`(\s\d+):3\d{4}/TCP`), "$1:<port>/TCP"},
	{regexp.MustCompile(`node-[123]\b`), "node-N"},
	{regexp.MustCompile(`172\.18\.0\.\d`), "<node>"},
}

// gaps matches the spaces between columns. Their widths depend on values that differ.
var gaps = regexp.MustCompile(` {2,}|-{5,}`)

// normal replaces values that differ between runs with labels. If there are any, it also normalises the widths of columns.
func normal(text string) string {
	out := text
	for _, v := range varying {
		out = v.pattern.ReplaceAllString(out, v.label)
	}
	ages := regexp.MustCompile(`<age>$`)
	plain := true
	for _, line := range strings.Split(out, "\n") {
		plain = plain && !strings.Contains(ages.ReplaceAllString(line, ""), "<")
	}
	if !plain {
		out = gaps.ReplaceAllString(out, "  ")
	}
	return out
}

// knownDifferences returns the command lines whose output is known to differ from that of the real kubectl. The file lists them
// with the reasons, as SESSION: COMMAND LINE.
func knownDifferences(t *testing.T) map[string]bool {
	t.Helper()
	data, err := os.ReadFile("testdata/known_differences.txt")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			out[line] = true
		}
	}
	return out
}

// TestSessions compares the output of each line with that of the real kubectl. Known differences must still differ.
func TestSessions(t *testing.T) {
	known := knownDifferences(t)
	used := map[string]bool{}
	lines, same := 0, 0
	for _, s := range sessions(t) {
		t.Run(s.name, func(t *testing.T) {
			replay(t, s, func(at *step, output string, code int) {
				lines++
				name := s.name + ": " + at.input[0]

				equal := code == at.code && normal(output) == normal(at.output)
				used[name] = used[name] || !equal
				switch {
				case equal:
					same++
				case !known[name]:
					t.Errorf("%s.txt:%d\n$ %s\n%s", s.name, at.number, at.line(), difference(at, output, code))
				}
			})
		})
	}
	t.Logf("%d of %d lines are answered as by the real kubectl", same, lines)
	for _, name := range object.SortedKeys(known) {
		if !used[name] && os.Getenv("KUBESIM_RECORD") == "" {
			t.Errorf("known_differences.txt says %q, and there is no difference: take it out", name)
		}
	}
}

// difference describes the first line in which two outputs differ.
func difference(at *step, output string, code int) string {
	want, got := strings.Split(normal(at.output), "\n"), strings.Split(normal(output), "\n")
	n := 0
	for n < len(want) && n < len(got) && want[n] == got[n] {
		n++
	}
	line := func(list []string) string {
		if n < len(list) {
			return list[n]
		}
		return "(the end)"
	}
	text := fmt.Sprintf("line %d\nwant %q\ngot  %q\n", n+1, line(want), line(got))
	if code != at.code {
		text += fmt.Sprintf("exit code %d, want %d\n", code, at.code)
	}
	return text
}

// TestShares checks that the output of at least 95 % of the lines in the learners' sessions, and 97 % of those of everyday work,
// equals that of the real kubectl.
func TestShares(t *testing.T) {
	known := knownDifferences(t)
	for _, c := range []struct {
		prefix       string
		lines, share int
	}{{"learner", 173, 95}, {"week", 150, 97}, {"kustomize", 80, 97}} {
		total, differ := 0, 0
		for _, s := range sessions(t) {
			if !strings.HasPrefix(s.name, c.prefix) {
				continue
			}
			total += len(s.steps)
			differ += len(slices.DeleteFunc(slices.Clone(s.steps), func(at *step) bool { return !known[s.name+": "+at.input[0]] }))
		}
		if total < c.lines || (total-differ)*100 < c.share*total {
			t.Errorf("%s: %d of %d lines are answered as the real kubectl does", c.prefix, total-differ, total)
		}
	}
}
