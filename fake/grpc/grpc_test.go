package grpc

import (
	"context"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"
)

// TestClient calls a server on a unix socket.
func TestClient(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	socket := filepath.Join(t.TempDir(), "s")
	client := Dial(socket)
	t.Cleanup(client.Close)
	failed := func(err error) *Error {
		var e *Error
		is.True(errors.As(err, &e))
		return e
	}
	_, err := client.Call(t.Context(), "/v1.Echo/Say", &Builder{})
	is.Equal(failed(err).Code, UnavailableCode) // nothing listens
	l, err := net.Listen("unix", socket)
	is.NoErr(err)
	release := make(chan struct{})
	server := &http.Server{Protocols: new(http.Protocols), ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := NewCall(w, r)
		in, err := call.Receive()
		switch {
		case err != nil:
		case r.URL.Path == "/v1.Echo/Wait":
			<-release
		case r.URL.Path == "/v1.Echo/Say":
			err = call.Send(in)
		default:
			err = NewError(Unimplemented, "100% unknown: "+r.URL.Path)
		}
		call.End(err)
	})}
	server.Protocols.SetUnencryptedHTTP2(true)
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { server.Close() })
	m, err := client.Call(t.Context(), "/v1.Echo/Say", new(Builder).Text(1, "a").Number(2, 300).Bool(3, true).Message(4, new(Builder).Text(1, "b")))
	is.NoErr(err)
	inner, err := m.Inner(4)
	is.NoErr(err)
	is.Equal([]any{m.Text(1), m.Number(2), m.Is(3), inner.Text(1), m.Has(2), m.Has(5)}, []any{"a", int64(300), true, "b", true, false})
	_, err = client.Call(t.Context(), "/v1.Echo/None", &Builder{})
	is.Equal(*failed(err), Error{Unimplemented, "100% unknown: /v1.Echo/None"})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err = client.Call(ctx, "/v1.Echo/Wait", &Builder{})
	close(release)
	is.Equal(failed(err).Code, DeadlineExceeded)
}

func FuzzParse(f *testing.F) {
	f.Add(new(Builder).Text(1, "a").Number(2, 300).Message(4, new(Builder).Text(1, "b")).Bytes)
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Parse(data)
		if err != nil {
			return
		}
		for field := range m.bytes {
			_, _ = m.Messages(field) // an error or not
		}
	})
}
