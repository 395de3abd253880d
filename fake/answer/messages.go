package answer

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"github.com/kubesim/kubesim/sim/apiserver"
)

// Subprotocols for a log over a WebSocket. Without a subprotocol, messages are binary.
const (
	binaryLog = "binary.k8s.io"
	base64Log = "base64.binary.k8s.io"
)

// messages is a watch or a log that is sent over a WebSocket.
//
//	watch   a message for each event: text for JSON, binary for protobuf, with any subprotocol; needs an Origin
//	log     an empty message first, then parts of the text: binary, or text in base64
//
// At the end the server sends a close frame with code 1000, even if the client has closed first. Messages from the client are
// ignored. The checks and error texts of the handshake are those of golang.org/x/net/websocket, which kube-apiserver uses.
type messages struct {
	server *apiserver.Server
	answer *apiserver.Answer
}

// pieceMax is the maximum number of bytes of a log in one message.
const pieceMax = 2048

// serve performs the handshake, and sends the events or the log as messages until they end.
func (m messages) serve(w http.ResponseWriter, r *http.Request) {
	defer locked(m.server, m.answer.Drop)
	protocol, refused := m.handshake(r)
	if refused != nil {
		refused.write(w)
		return
	}
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	header := http.Header{}
	if protocol != "" {
		header.Set("Sec-WebSocket-Protocol", protocol)
	}
	conn, err := upgrader.Upgrade(eager{w}, r, header)
	if err != nil {
		return // Upgrade has written the response
	}
	defer conn.Close()
	conn.SetCloseHandler(func(int, string) error { return nil })
	ctx, gone := context.WithCancel(r.Context())
	defer gone()
	go func() {
		defer gone()
		for {
			if _, _, err := conn.NextReader(); err != nil {
				return
			}
		}
	}()
	if m.answer.Watch != nil {
		err = m.sendEvents(ctx, conn)
	} else {
		err = m.sendLog(ctx, conn, protocol == base64Log)
	}
	if err == io.ErrUnexpectedEOF { // a fault breaks the connection
		return
	}
	_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Time{})
}

// sendEvents sends the events of a watch until the watch ends, and returns the reason.
func (m messages) sendEvents(ctx context.Context, conn *websocket.Conn) error {
	kind, prefix := websocket.TextMessage, 0
	if strings.Contains(m.answer.Header.Get("Content-Type"), "protobuf") {
		kind, prefix = websocket.BinaryMessage, 4 // length prefix, which is redundant in a message
	}
	s := newStream(ctx, m.server, m.answer)
	defer s.Close()
	for {
		if err := s.await(); err != nil {
			return err
		}
		for _, frame := range s.frames {
			if err := conn.WriteMessage(kind, frame.Bytes()[prefix:]); err != nil {
				return err
			}
		}
		s.frames = nil
	}
}

// sendLog sends the output of a log, after an empty message, until it ends. It returns the reason, such as io.EOF. If encode is
// true, the messages are base64 text.
func (m messages) sendLog(ctx context.Context, conn *websocket.Conn, encode bool) error {
	from := m.answer.Sent().Reader()
	if m.answer.Lost > 0 {
		from = io.MultiReader(from, broken{})
	}
	if m.answer.Session != nil {
		t := newTail(ctx, m.server, m.answer.Session)
		defer t.Close()
		from = t
	}
	send := func(p []byte) error { return conn.WriteMessage(websocket.BinaryMessage, p) }
	if encode {
		send = func(p []byte) error {
			return conn.WriteMessage(websocket.TextMessage, []byte(base64.StdEncoding.EncodeToString(p)))
		}
	}
	if err := send(nil); err != nil {
		return err
	}
	piece := make([]byte, pieceMax)
	for {
		n, err := from.Read(piece)
		if n > 0 {
			if err := send(piece[:n]); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
}

// refusal is the response to a failed handshake.
type refusal struct {
	code int
	text string
}

func (f *refusal) write(w http.ResponseWriter) {
	w.Header().Set("Connection", "close")
	w.WriteHeader(f.code)
	_, _ = io.WriteString(w, f.text) // an error means that the client disconnected
}

// handshake returns the selected subprotocol, or "" if there is none. It returns an error response if the WebSocket request is
// invalid.
func (m messages) handshake(r *http.Request) (protocol string, refused *refusal) {
	if r.Header.Get("Sec-Websocket-Key") == "" {
		return "", &refusal{http.StatusBadRequest, "mismatch challenge/response"}
	}
	if r.Header.Get("Sec-Websocket-Version") != "13" {
		return "", &refusal{http.StatusBadRequest, "missing or bad WebSocket Version"}
	}
	var asked []string
	if list := strings.TrimSpace(r.Header.Get("Sec-Websocket-Protocol")); list != "" {
		for name := range strings.SplitSeq(list, ",") {
			asked = append(asked, strings.TrimSpace(name))
		}
	}
	if m.answer.Watch == nil {
		if len(asked) == 0 {
			return "", nil
		}
		if protocol = first(asked, []string{binaryLog, base64Log}); protocol == "" {
			return "", &refusal{code: http.StatusForbidden}
		}
		return protocol, nil
	}
	if _, err := url.ParseRequestURI(r.Header.Get("Origin")); err != nil {
		return "", &refusal{code: http.StatusForbidden}
	}
	switch len(asked) {
	case 0:
		return "", nil
	case 1:
		return asked[0], nil
	}
	return "", &refusal{code: http.StatusBadRequest}
}
