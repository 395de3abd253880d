package grpc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
)

// Client calls the methods of a server on a unix socket, without TLS.
type Client struct {
	http *http.Client
}

// Dial returns a client for the server on a unix socket. It does not connect yet.
func Dial(socket string) *Client {
	t := &http.Transport{Protocols: new(http.Protocols), DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}
	t.Protocols.SetUnencryptedHTTP2(true)
	return &Client{&http.Client{Transport: t}}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Call calls a method, such as /v1.Service/Method, and returns the response. If the server does not respond, the code of the Error is
// UnavailableCode; if the context is done before, it is DeadlineExceeded.
func (c *Client) Call(ctx context.Context, method string, request *Builder) (Message, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+method, bytes.NewReader(Frame(request.Bytes)))
	if err != nil {
		return Message{}, err
	}
	q.Header.Set("Content-Type", "application/grpc")
	q.Header.Set("Te", "trailers")
	res, err := c.http.Do(q)
	if err != nil {
		return Message{}, failure(ctx, err)
	}
	defer res.Body.Close()
	message, err := Receive(res.Body)
	if err == nil {
		_, err = io.Copy(io.Discard, res.Body) // the trailer follows the body
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return Message{}, failure(ctx, err)
	}
	if err := statusOf(res); err != nil {
		return Message{}, err
	}
	return Parse(message)
}

func failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &Error{DeadlineExceeded, ctx.Err().Error()}
	}
	return Unavailable(err.Error())
}

// statusOf returns the error in the trailer of a response, or in its header if there is no message.
func statusOf(res *http.Response) error {
	h := res.Trailer
	if h.Get("Grpc-Status") == "" {
		h = res.Header
	}
	code, err := strconv.Atoi(h.Get("Grpc-Status"))
	if err != nil {
		return &Error{Unknown, "the response has no status of gRPC: " + res.Status}
	}
	if code == 0 {
		return nil
	}
	text := h.Get("Grpc-Message")
	if plain, err := url.PathUnescape(text); err == nil {
		text = plain
	}
	return &Error{code, text}
}
