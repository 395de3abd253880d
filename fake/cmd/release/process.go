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

// process specifies how to start a program.
type process struct {
	path string
	args []string
	env  []string // if nil, the environment of this process
	root string   // if not empty, the root directory of the process
}

// command returns a command for the process.
func (p process) command(ctx context.Context) (*exec.Cmd, error) {
	cmd := exec.CommandContext(ctx, p.path, p.args...)
	cmd.Env = p.env
	if p.root != "" {
		return cmd, enterRoot(cmd, p.root)
	}
	return cmd, nil
}

// served is a running kubesim serve.
type served struct {
	cmd       *exec.Cmd
	url, page string // page ends in a slash
	token     string // if empty, requests need no token
	stderr    *lockedBuffer
}

// lockedBuffer is a buffer that can be read while a process writes to it.
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

// drawnToken matches the administrator's token in the example command that kubesim serve prints.
var drawnToken = regexp.MustCompile(`--token (\S+)`)

// startMax is the maximum time that a server may take to start.
const startMax = time.Minute

// serve starts kubesim serve and waits until it has printed its URLs and the example command.
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

// get sends a request. It returns an error unless the response has the given status code and its body contains the given string.
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

// stop stops the server the way a container runtime does. It returns an error if the server exits with one.
func (s *served) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		_ = s.cmd.Process.Kill() // the system does not support this signal
		_ = s.cmd.Wait()
		return nil
	}
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("after SIGTERM: %w\n%s", err, s.stderr)
	}
	return nil
}
