package answer

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/kubelet"
	"github.com/kubesim/kubesim/sim/status"
)

// upgraded is a response whose connection is given to a session.
//
//	Upgrade: websocket   v5.channel.k8s.io, v4.channel.k8s.io        exec, attach      messages with a channel each
//	                     SPDY/3.1+portforward.k8s.io                 port-forward      SPDY in messages
//	Upgrade: SPDY/3.1    v4.channel.k8s.io                           exec, attach      streams of SPDY      (spdy.go)
//	                     portforward.k8s.io                          port-forward      pairs of streams     (spdy.go)
type upgraded struct {
	server *apiserver.Server
	answer *apiserver.Answer
}

// Subprotocols in order of preference.
const (
	channelsV5 = "v5.channel.k8s.io" // like v4, and a client can close its input
	channelsV4 = "v4.channel.k8s.io" // the result is a Status
	ports      = "portforward.k8s.io"
	tunnel     = "SPDY/3.1+"
)

// Channels of a WebSocket. The first byte of each message is its channel.
const (
	stdinChannel  = 0
	stdoutChannel = 1
	stderrChannel = 2
	errorChannel  = 3
	resizeChannel = 4
	closeChannel  = 255 // the second byte is the channel to close
)

func (u upgraded) serve(w http.ResponseWriter, r *http.Request) {
	session := u.answer.Session
	defer locked(u.server, session.End)
	for name, values := range u.answer.Header { // order does not matter
		w.Header()[name] = values
	}
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		u.overWebSocket(w, r)
		return
	}
	known := []string{channelsV4}
	if session.Ports {
		known = []string{ports}
	}
	var asked []string
	for _, list := range r.Header["X-Stream-Protocol-Version"] {
		for name := range strings.SplitSeq(list, ",") {
			asked = append(asked, strings.TrimSpace(name))
		}
	}
	chosen := first(known, asked)
	if chosen == "" {
		w.Header()["X-Accepted-Stream-Protocol-Versions"] = known
		http.Error(w, fmt.Sprintf("unable to upgrade: unable to negotiate protocol: client supports %v, server accepts %v", asked, known), http.StatusForbidden)
		return
	}
	conn, err := hijack(w, http.Header{"Connection": {"Upgrade"}, "Upgrade": {"SPDY/3.1"}, "X-Stream-Protocol-Version": {chosen}})
	if err != nil {
		http.Error(w, "unable to upgrade: "+err.Error(), http.StatusInternalServerError)
		return
	}
	defer conn.Close()
	u.overSPDY(conn, r)
}

// first returns the first name in known that is also in asked, or "".
func first(known, asked []string) string {
	for _, name := range known {
		if slices.Contains(asked, name) {
			return name
		}
	}
	return ""
}

// hijack writes a response with code 101 and takes over the connection.
func hijack(w http.ResponseWriter, header http.Header) (net.Conn, error) {
	for name, values := range w.Header() { // order does not matter
		header[name] = values
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, err
	}
	head := &http.Response{StatusCode: http.StatusSwitchingProtocols, ProtoMajor: 1, ProtoMinor: 1, Header: header}
	if err := head.Write(conn); err != nil {
		conn.Close()
		return nil, err
	}
	return readAhead{conn, buffered.Reader}, nil
}

// readAhead is a connection from which some data has already been read into a buffer.
type readAhead struct {
	net.Conn
	from *bufio.Reader
}

func (c readAhead) Read(p []byte) (int, error) { return c.from.Read(p) }

// eager is an http.ResponseWriter whose connection can be upgraded even if its client has already sent messages, which package
// websocket does not allow.
type eager struct{ http.ResponseWriter }

// Hijack implements http.Hijacker.
func (e eager) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(e.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	conn = readAhead{conn, buffered.Reader}
	return conn, bufio.NewReadWriter(bufio.NewReaderSize(conn, 0), buffered.Writer), nil
}

func (u upgraded) overWebSocket(w http.ResponseWriter, r *http.Request) {
	session := u.answer.Session
	known := []string{channelsV5, channelsV4}
	if session.Ports {
		known = []string{tunnel + ports}
	}
	upgrader := websocket.Upgrader{Subprotocols: known, CheckOrigin: func(*http.Request) bool { return true }}
	if first(known, websocket.Subprotocols(r)) == "" {
		http.Error(w, fmt.Sprintf("unable to upgrade: the subprotocols are %v, of which the client asks for none", known), http.StatusBadRequest)
		return
	}
	conn, err := upgrader.Upgrade(eager{w}, r, w.Header())
	if err != nil {
		return // it has written an error response
	}
	defer conn.Close()
	if session.Ports {
		u.overSPDY(&tunnelled{Conn: conn.UnderlyingConn(), messages: conn}, r)
		return
	}
	ctx, gone := context.WithCancel(context.Background())
	go func() {
		defer gone()
		u.hear(conn)
	}()
	say := func(channel byte, data []byte) error {
		return conn.WriteMessage(websocket.BinaryMessage, append([]byte{channel}, data...))
	}
	_ = say(stdoutChannel, nil) // signals that the connection is established
	result, ended := carry(ctx, u.server, session, func(o kubelet.Output) error {
		if o.Error {
			return say(stderrChannel, o.Data)
		}
		return say(stdoutChannel, o.Data)
	})
	if ended {
		_ = say(errorChannel, resultText(result))
		_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Time{})
	}
}

// hear passes incoming WebSocket messages to the session until the WebSocket is closed.
func (u upgraded) hear(conn *websocket.Conn) {
	for {
		_, data, err := conn.ReadMessage()
		if err != nil {
			return
		}
		switch {
		case len(data) > 1 && data[0] == stdinChannel:
			locked(u.server, func() { u.answer.Session.Input(data[1:]) })
		case len(data) > 1 && data[0] == closeChannel && data[1] == stdinChannel:
			locked(u.server, u.answer.Session.CloseInput)
		}
	}
}

// resultText returns the JSON of a session's result, which is sent on the error channel.
func resultText(s *status.Status) []byte {
	if s == nil {
		return []byte(`{"metadata":{},"status":"Success"}`)
	}
	return s.JSON()
}

// tunnelled is a net.Conn that is tunnelled through WebSocket messages.
type tunnelled struct {
	net.Conn
	messages *websocket.Conn
	reader   io.Reader // of the current message
	writing  sync.Mutex
}

func (t *tunnelled) Read(p []byte) (int, error) {
	for {
		if t.reader == nil {
			_, reader, err := t.messages.NextReader()
			if err != nil {
				return 0, io.EOF
			}
			t.reader = reader
		}
		n, err := t.reader.Read(p)
		if err == io.EOF {
			t.reader, err = nil, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

func (t *tunnelled) Write(p []byte) (int, error) {
	t.writing.Lock()
	defer t.writing.Unlock()
	if err := t.messages.WriteMessage(websocket.BinaryMessage, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (t *tunnelled) Close() error {
	t.writing.Lock()
	defer t.writing.Unlock()
	_ = t.messages.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Time{})
	return t.messages.Close()
}
