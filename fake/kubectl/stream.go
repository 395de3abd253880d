package kubectl

import (
	"bufio"
	"encoding/binary"
	"io"
	"net/http"

	"github.com/kubesim/kubesim/sim/kubectl"
	"github.com/kubesim/kubesim/sim/wire"
)

// The channels of a stream to a container. The first byte of each message is its channel (KEP-4006, v5.channel.k8s.io).
const (
	stdin       = 0
	stdout      = 1
	stderr      = 2
	outcome     = 3
	closed      = 255
	subprotocol = "v5.channel.k8s.io"
)

// WebSocket frames (RFC 6455).
const (
	binaryFrame = 2
	closeFrame  = 8
	pingFrame   = 9
	final       = 0x80
	masked      = 0x80
)

// Exec implements kubectl.Conn with a WebSocket.
func (c *Conn) Exec(r *kubectl.Request, input []byte, out func(isError bool, data []byte)) (*kubectl.Answer, error) {
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	r.Header.Set("Sec-Websocket-Version", "13")
	r.Header.Set("Sec-Websocket-Key", "a3ViZXNpbSBrdWJlY3RsIQ==")
	r.Header.Set("Sec-Websocket-Protocol", subprotocol)
	res, err := c.send(c.ctx, r)
	if err != nil {
		return nil, err
	}
	stream, ok := res.Body.(io.ReadWriteCloser)
	if res.StatusCode != http.StatusSwitchingProtocols || !ok {
		return read(res)
	}
	defer stream.Close()
	if r.Query.Get("stdin") == "true" {
		for _, message := range [][]byte{append([]byte{stdin}, input...), {closed, stdin}} {
			if _, err := stream.Write(frame(binaryFrame, message)); err != nil {
				return nil, err
			}
		}
	}
	from := bufio.NewReader(stream)
	for {
		kind, message, err := readFrame(from)
		switch {
		case err == io.EOF || kind == closeFrame:
			return nil, nil
		case err != nil:
			return nil, err
		case kind == pingFrame || len(message) == 0:
			continue
		}
		switch message[0] {
		case stdout, stderr:
			out(message[0] == stderr, message[1:])
		case outcome:
			return &kubectl.Answer{Code: wire.StatusOK, Header: wire.Header{}, Body: message[1:]}, nil
		}
	}
}

// frame returns a client's WebSocket frame with the message. Frames of a client must be masked; the mask consists of
// zeros.
func frame(kind byte, message []byte) []byte {
	out := []byte{final | kind}
	const short, long = 126, 127
	switch n := len(message); {
	case n < short:
		out = append(out, masked|byte(n))
	case n < 1<<16:
		out = binary.BigEndian.AppendUint16(append(out, masked|short), uint16(n))
	default:
		out = binary.BigEndian.AppendUint64(append(out, masked|long), uint64(n))
	}
	return append(append(out, 0, 0, 0, 0), message...)
}

// readFrame reads a frame from the server. It returns io.EOF if the connection ends before a frame, and an error if the
// frame is longer than 64 MiB.
func readFrame(from *bufio.Reader) (kind byte, message []byte, err error) {
	var head [2]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return 0, nil, io.EOF
	}
	n := uint64(head[1] &^ masked)
	const short, long = 126, 127
	switch n {
	case short:
		var size uint16
		err = binary.Read(from, binary.BigEndian, &size)
		n = uint64(size)
	case long:
		err = binary.Read(from, binary.BigEndian, &n)
	}
	const most = 1 << 26
	if err != nil || n > most {
		return 0, nil, io.ErrUnexpectedEOF
	}
	message, err = io.ReadAll(io.LimitReader(from, int64(n))) // allocates memory only for data that arrives
	if err == nil && uint64(len(message)) < n {
		err = io.ErrUnexpectedEOF
	}
	return head[0] & 0x0f, message, err
}
