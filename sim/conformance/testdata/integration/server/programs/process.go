package programs

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// The variables of the environment through which the runner passes its folders.
const (
	assetsVariable = "INTEGRATION_ASSETS" // the folder with etcd and kube-apiserver
	logsVariable   = "INTEGRATION_LOGS"   // the folder for the output of the programs
)

// stopTimeout is the maximal time that a program takes to end after SIGTERM.
const stopTimeout = 30 * time.Second

// process is a running program.
type process struct {
	name  string
	log   string
	ended chan struct{} // closed when it has ended
	cmd   *exec.Cmd
}

// launch starts a program of the assets. Its output goes to a file called after label.
func launch(name, label string, args []string) (*process, error) {
	assets := os.Getenv(assetsVariable)
	if assets == "" {
		return nil, fmt.Errorf("set %s to a folder with etcd and kube-apiserver", assetsVariable)
	}
	log, err := os.CreateTemp(os.Getenv(logsVariable), strings.NewReplacer("/", "_", "*", "_").Replace(label)+"-*.log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	fmt.Fprintf(log, "%s %q\n", name, args)
	p := &process{name: name, log: log.Name(), ended: make(chan struct{}), cmd: exec.Command(filepath.Join(assets, name), args...)}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // its log says why it ended
	}()
	return p, nil
}

// stop ends the program and waits for its end.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-p.ended:
	case <-time.After(stopTimeout):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// failure returns an error with the last lines that the program has printed.
func (p *process) failure(what string) error {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return fmt.Errorf("%s %s: %s", p.name, what, strings.Join(lines[max(1, len(lines)-3):], "\n"))
}

// said reports whether the program has printed a text.
func (p *process) said(text string) bool {
	log, err := os.ReadFile(p.log)
	return err == nil && bytes.Contains(log, []byte(text))
}

// waitUntil calls ready until it returns true.
func (p *process) waitUntil(limit time.Duration, ready func() bool) error {
	deadline := time.Now().Add(limit)
	for !ready() {
		select {
		case <-p.ended:
			return p.failure("ended")
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return p.failure(fmt.Sprintf("was not ready after %v", limit))
		}
	}
	return nil
}

// The range of ports for servers lies below the kernel's ephemeral ports.
const firstPort, lastPort = 20000, 32000

var ports struct {
	sync.Mutex
	next int
}

// freePort returns a port of the loopback address that no one listens on, and that this process has not used lately.
func freePort() (int, error) {
	ports.Lock()
	defer ports.Unlock()
	if ports.next == 0 {
		ports.next = firstPort + os.Getpid()*97%(lastPort-firstPort)
	}
	for range lastPort - firstPort {
		port := ports.next
		if ports.next++; ports.next >= lastPort {
			ports.next = firstPort
		}
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, errors.New("no port is free")
}

// answers reports whether a GET of an URL is answered with 200.
func answers(client *http.Client, url, token string) bool {
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := client.Do(r)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	return res.StatusCode == http.StatusOK
}
