package kubelet

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/status"
)

// forward returns a session in which a client can open connections to the pod's ports.
func (t *target) forward() (*Answer, *status.Status) {
	if !t.w.active() {
		return nil, status.Internal(fmt.Errorf("error upgrading connection: unable to upgrade connection: pod not found (%q)", t.w.pod.Name()+"_"+t.w.pod.Namespace()))
	}
	s := t.nodes.session()
	s.Upgrade, s.Ports = true, true
	uid := t.w.pod.UID()
	t.k.follow(t.key, s, func() {
		if p := t.k.memory.Pods[t.key]; p == nil || p.UID != uid {
			s.close(nil)
		}
	})
	s.connect = t.dial
	return &Answer{Session: s}, nil
}

// Connect opens a connection to a port of the session's pod. If no container listens on the port, it returns the same error as a
// real kubelet.
func (s *Session) Connect(port int) (*Session, error) {
	if s.connect == nil || s.ended {
		return nil, fmt.Errorf("the session has ended")
	}
	return s.connect(port)
}

func (t *target) dial(port int) (*Session, error) {
	c := t.listener(port)
	if c == nil {
		sandbox := digest(t.w.pod.UID(), "sandbox")
		return nil, fmt.Errorf("error forwarding port %d to pod %s, uid : failed to execute portforward in network namespace %q: "+
			"failed to connect to localhost:%[1]d inside namespace %[2]q, IPv4: dial tcp4 127.0.0.1:%[1]d: connect: connection refused "+
			"IPv6 dial tcp6 [::1]:%[1]d: connect: connection refused ", port, sandbox, "/var/run/netns/cni-"+sandbox[:8])
	}
	s := t.nodes.session()
	var request []byte
	s.input = func(p []byte, end bool) {
		for request = append(request, p...); ; {
			head, length := requestOf(request)
			if length == 0 {
				break
			}
			s.say(false, t.response(c, head))
			request = request[length:]
		}
		if end || len(request) > requestMax {
			s.close(nil)
		}
	}
	return s, nil
}

// requestMax is the maximum length of the body of a request to a container.
const requestMax = 1 << 20

// listener returns the container that listens on a port: the running container that declares the port, or the first container if
// none declares any port.
func (t *target) listener(port int) *container {
	var first *container
	silent := true
	for _, c := range t.w.containers {
		if c.list != "containers" {
			continue
		}
		r := c.run
		if p := t.k.memory.Pods[t.key]; p != nil && p.Containers.get(c.name) != nil {
			r = p.Containers.get(c.name)
		}
		for _, p := range c.spec.Objects("ports") {
			if silent = false; p.Int64("containerPort") == int64(port) && r.State == running {
				return c
			}
		}
		if first == nil && r.State == running {
			first = c
		}
	}
	if silent {
		return first
	}
	return nil
}

// requestOf returns the first line of the HTTP request at the beginning of data, and the length of the request in bytes. If the
// request is incomplete, the length is 0.
func requestOf(data []byte) (line string, length int) {
	text := string(data)
	end := strings.Index(text, "\r\n\r\n")
	if end < 0 {
		return "", 0
	}
	length = end + 4
	lines := strings.Split(text[:end], "\r\n")
	for _, header := range lines[1:] {
		if name, value, ok := strings.Cut(header, ":"); ok && strings.EqualFold(name, "Content-Length") {
			n, err := strconv.Atoi(strings.TrimSpace(value))
			if err != nil || n < 0 || n > requestMax {
				return "", 0
			}
			length += n
		}
	}
	if length > len(data) {
		return "", 0
	}
	return lines[0], length
}

// response returns a container's response to an HTTP request.
func (t *target) response(c *container, line string) string {
	method, rest, _ := strings.Cut(line, " ")
	path, _, _ := strings.Cut(rest, " ")
	body := fmt.Sprintf("pod %s of namespace %s on %s answers %s %s\n", t.w.pod.Name(), t.w.pod.Namespace(), t.k.node, method, path)
	if c.program != nil && c.program.HTTP != "" {
		body = c.program.HTTP
	}
	head := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nDate: %s\r\n\r\n", len(body),
		t.nodes.schedule.Now().UTC().Format(httpTime))
	if method == "HEAD" {
		return head
	}
	return head + body
}

// httpTime is the format of times in HTTP (RFC 9110).
const httpTime = "Mon, 02 Jan 2006 15:04:05 GMT"
