// Package kubectl sends the requests of sim/kubectl over HTTP. It is used by "kubesim kubectl" and by replays of recorded sessions.
//
//	kubeconfig, flags ─ Load ─▶ Target ─ Dial ─▶ Conn ─▶ sim/kubectl.Session
package kubectl

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/kubectl"
	"github.com/kubesim/kubesim/sim/wire"
)

// Conn implements kubectl.Conn over HTTP. It uses the machine's clock.
type Conn struct {
	ctx       context.Context
	base      string
	transport http.RoundTripper
	token     string
}

// Dial returns a Conn to the API server at a URL. Requests are cancelled when ctx is done. If token is not empty, each request
// contains it.
func Dial(ctx context.Context, base string, transport http.RoundTripper, token string) *Conn {
	return &Conn{ctx: ctx, base: base, transport: transport, token: token}
}

// Now implements kubectl.Conn.
func (c *Conn) Now() time.Time { return time.Now() }

// Sleep implements kubectl.Conn.
func (c *Conn) Sleep(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.ctx.Done():
	}
}

// Do implements kubectl.Conn.
func (c *Conn) Do(r *kubectl.Request) (*kubectl.Answer, error) {
	res, err := c.send(c.ctx, r)
	if err != nil {
		return nil, err
	}
	return read(res)
}

// read reads the whole response.
func read(res *http.Response) (*kubectl.Answer, error) {
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return &kubectl.Answer{Code: res.StatusCode, Header: wire.Header(res.Header), Body: body}, err
}

// send sends a request and returns its response, whose body has not been read.
func (c *Conn) send(ctx context.Context, r *kubectl.Request) (*http.Response, error) {
	u, err := url.Parse(c.base)
	if err != nil {
		return nil, err
	}
	u.Path, u.RawQuery = r.Path, r.Query.Encode()
	req, err := http.NewRequestWithContext(ctx, r.Method, u.String(), bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	req.Header = http.Header(r.Header.Clone())
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := c.transport.RoundTrip(req)
	if err != nil {
		return nil, errors.New("The connection to the server " + u.Host + " was refused - did you specify the right host or port?")
	}
	return res, nil
}

// Watch implements kubectl.Conn.
func (c *Conn) Watch(r *kubectl.Request, patience time.Duration, event func(frame []byte) bool) (*kubectl.Answer, error) {
	ctx, cancel := context.WithTimeout(c.ctx, patience)
	defer cancel()
	res, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= http.StatusBadRequest {
		return read(res)
	}
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 && !event(line) {
			return nil, nil
		}
		if err != nil { // the watch or its timeout has ended
			return nil, nil
		}
	}
}

// Follow implements kubectl.Conn. It waits until the watch ends or ctx is done.
func (c *Conn) Follow(r *kubectl.Request, event func(frame []byte)) (*kubectl.Answer, error) {
	const forever = 1 << 62
	return c.Watch(r, forever, func(frame []byte) bool { event(frame); return true })
}

// Disk implements kubectl.Files with the machine's file system.
type Disk struct{}

// ReadFile implements kubectl.Files.
func (Disk) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

// WriteFile implements kubectl.Files.
func (Disk) WriteFile(name string, data []byte) error { return os.WriteFile(name, data, 0o644) }

// Names implements kubectl.Files. It includes the files of subdirectories.
func (Disk) Names(folder string) (out []string) {
	if folder == "" {
		folder = "."
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return nil
	}
	out = []string{}
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, filepath.ToSlash(path))
		}
		return nil
	})
	return out
}

// Edit opens text in an editor, waits until the editor exits, and returns the edited text. If editor is "", it uses vi. It returns
// an error if the editor fails.
func Edit(editor, text string) (string, error) {
	file, err := os.CreateTemp("", "kubectl-edit-*.yaml")
	if err != nil {
		return "", err
	}
	defer os.Remove(file.Name())
	if _, err = file.WriteString(text); err == nil {
		err = file.Close()
	}
	if err != nil {
		return "", err
	}
	if editor == "" {
		editor = "vi"
	}
	words := append(strings.Fields(editor), file.Name())
	c := exec.Command(words[0], words[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return "", err
	}
	edited, err := os.ReadFile(file.Name())
	return string(edited), err
}
