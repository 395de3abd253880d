package main

import (
	"go/format"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestRecord records requests to a server through kubesim proxy, and serves them again.
func TestRecord(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	dir := t.TempDir()
	config, file, own := filepath.Join(dir, "config"), filepath.Join(dir, "recording"), filepath.Join(dir, "own")
	serving(t, "--tls", "--kubeconfig", config)
	operate := func(s *server, color string) {
		s.do("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"},"data":{"color":"`+color+`"}}`)
		_, body := s.do("GET", "/api/v1/namespaces/default/configmaps/a", "")
		is.True(strings.Contains(body, `"color":"red"`))
	}
	proxy := running(t, "proxy", "--to", config, "--record", file, "--kubeconfig", own)
	operate(proxy, "red")
	for _, change := range []func(*http.Request){
		func(r *http.Request) { r.Host = "example.com" },
		func(r *http.Request) { r.Header.Set("Origin", "https://example.com") },
	} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", proxy.url+"/api", nil)
		is.NoErr(err)
		change(r)
		a, err := proxy.client.Do(r)
		is.NoErr(err)
		is.NoErr(a.Body.Close())
		is.Equal(a.StatusCode, http.StatusForbidden) // a web page cannot use the proxy
	}
	code, errs := proxy.stop()
	is.Equal(code, 0)
	is.Equal(errs, "")
	text, err := os.ReadFile(own)
	is.NoErr(err)
	is.True(strings.Contains(string(text), proxy.url))

	replay := running(t, "replay-recording", file)
	operate(replay, "red")
	code, errs = replay.stop()
	is.Equal(code, 0)
	is.Equal(errs, "all requests were as in the recording\n")

	code, out, _ := ended("scenario-from", file)
	is.Equal(code, 0)
	scenario := filepath.Join(dir, "story.txtar")
	is.NoErr(os.WriteFile(scenario, []byte(out), 0o600))
	code, out, _ = ended("run", scenario)
	is.Equal(code, 0)
	is.True(strings.Contains(out, "201 Created configmap/a"))

	code, out, _ = ended("open", file, "--site", "https://example.com/")
	is.Equal(code, 0)
	is.True(strings.HasPrefix(out, "https://example.com/#v1."))
	generated(t, file)

	replay = running(t, "replay-recording", file)
	operate(replay, "blue")
	code, errs = replay.stop()
	is.Equal(code, 1)
	is.Equal(errs, "another body: POST /api/v1/namespaces/default/configmaps?\n"+
		`    recorded: {"data":{"color":"red"},"metadata":{"name":"a"}}`+"\n"+`    now:      {"data":{"color":"blue"},"metadata":{"name":"a"}}`+"\n")
}

// generated checks the Go test that kubesim writes from a recording.
func generated(t *testing.T, recording string) {
	t.Helper()
	is := is.New(t)
	dir := filepath.Dir(recording)
	test := filepath.Join(dir, "run_again_test.go")
	code, out, _ := ended("scenario-from", recording, "--go", test)
	is.Equal(code, 0)
	is.Equal(out, "wrote "+test+": start your program in its function runRunAgain\n")
	_, err := os.Stat(filepath.Join(dir, "testdata", "run_again.recording"))
	is.NoErr(err)
	text, err := os.ReadFile(test)
	is.NoErr(err)
	parsed, err := parser.ParseFile(token.NewFileSet(), test, text, 0)
	is.NoErr(err)
	is.Equal(parsed.Name.Name, "recorded")
	formatted, err := format.Source(text)
	is.NoErr(err)
	is.Equal(string(formatted), string(text))
	_, _, errs := ended("scenario-from", recording, "--go", test)
	is.True(strings.Contains(errs, "run_again_test.go exists: remove it, or choose another name"))
}

func TestRecordArguments(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{ // order does not matter
		"proxy --to x":                                    "proxy: give --to KUBECONFIG and --record FILE, and no other arguments; see kubesim proxy --help",
		"proxy --help":                                    "",
		"replay-recording":                                "replay-recording: the name of a recording is missing; see kubesim replay-recording --help",
		"replay-recording record.go":                      "record.go: line 1: it is not an entry of a recording: invalid character 'p' looking for beginning of value",
		"replay-recording a --listen x":                   "open a: no such file or directory",
		"scenario-from testdata/audit.log --go a_test.go": "scenario-from: --go needs --client NAME for an audit log: the program that your test runs",
		"scenario-from testdata/audit.log --go a.go --client operator": "scenario-from: --go a.go: the name of a test file ends in _test.go",
		"replay-recording testdata/audit.log":                          "testdata/audit.log: it is an audit log of Kubernetes, which contains no watch events, so that it cannot be replayed",
	} {
		if _, _, errs := ended(strings.Fields(args)...); strings.TrimSuffix(strings.TrimPrefix(errs, "kubesim: "), "\n") != want {
			t.Errorf("%s: %s", args, errs)
		}
	}
}
