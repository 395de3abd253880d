package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process describes how to start a program.
type process struct {
	path string
	args []string
	env  []string // if nil, that of this process
	root string   // if not empty, the folder that it sees as /
}

// command returns the process as a command that can be started.
func (p process) command(ctx context.Context) (*exec.Cmd, error) {
	cmd := exec.CommandContext(ctx, p.path, p.args...)
	cmd.Env = p.env
	if p.root != "" {
		return cmd, enterRoot(cmd, p.root)
	}
	return cmd, nil
}

// served is a kubesim serve that runs.
type served struct {
	cmd       *exec.Cmd
	url, page string // the page's has a / at its end
	token     string // if empty, requests need none
	stderr    *lockedBuffer
}

// lockedBuffer is a buffer that a process writes to while it is read.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// drawnToken matches the token of the administrator in the line that kubesim serve prints to try it.
var drawnToken = regexp.MustCompile(`--token (\S+)`)

// startMax is how long a server may take until it serves.
const startMax = time.Minute

// serve starts kubesim serve and waits until it has printed the lines about where it serves, and which line to try.
func serve(ctx context.Context, p process) (*served, error) {
	cmd, err := p.command(ctx)
	if err != nil {
		return nil, err
	}
	s := &served{cmd: cmd, stderr: &lockedBuffer{}}
	cmd.Stderr = s.stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	timer := time.AfterFunc(startMax, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	wantsPage := strings.Contains(strings.Join(p.args, " "), "--web")
	lines := bufio.NewScanner(stdout)
	for s.url == "" || wantsPage && s.page == "" {
		if !lines.Scan() {
			_ = cmd.Wait()
			return nil, fmt.Errorf("%s ended before it served:\n%s", p.path, s.stderr)
		}
		word, url, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "serving":
			s.url = strings.Replace(url, "[::]", "127.0.0.1", 1)
		case "page":
			s.page = url
		}
	}
	for began := time.Now(); !strings.Contains(s.stderr.String(), "try: "); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > startMax {
			return nil, errors.Join(fmt.Errorf("%s does not print the line to try:\n%s", p.path, s.stderr), s.stop())
		}
	}
	if m := drawnToken.FindStringSubmatch(s.stderr.String()); m != nil {
		s.token = m[1]
	}
	return s, nil
}

// get returns an error if the answer to a request does not have the code and the text.
func (s *served) get(url, token string, code int, has string) error {
	client := &http.Client{Timeout: startMax, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	q, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	if token != "" {
		q.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := client.Do(q)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, s.stderr)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != code || !strings.Contains(string(body), has) {
		return fmt.Errorf("GET %s: the answer is %d, not %d with %q:\n%.500s", url, res.StatusCode, code, has, body)
	}
	return nil
}

// stop ends the server as a container's runtime does. The server must end in order.
func (s *served) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		_ = s.cmd.Process.Kill() // a system without this signal
		_ = s.cmd.Wait()
		return nil
	}
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("after SIGTERM: %w\n%s", err, s.stderr)
	}
	return nil
}
