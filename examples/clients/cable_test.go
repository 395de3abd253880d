package clients

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
)

// cable is a RoundTripper that can be cut: open streams break, and requests fail until it is mended.
type cable struct {
	next http.RoundTripper

	mu      sync.Mutex
	broken  context.Context // ends when the cable is cut
	breakIt context.CancelFunc
}

var errCut = errors.New("the cable is cut")

func newCable(next http.RoundTripper) *cable {
	c := &cable{next: next}
	c.Mend()
	return c
}

// Mend lets requests through again.
func (c *cable) Mend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken, c.breakIt = context.WithCancel(context.Background())
}

// Cut breaks open streams and fails new requests.
func (c *cable) Cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.breakIt()
}

// RoundTrip implements http.RoundTripper. The context of each request ends when the cable is cut.
func (c *cable) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	broken := c.broken
	c.mu.Unlock()
	if broken.Err() != nil {
		return nil, errCut
	}
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(broken, cancel)
	response, err := c.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		stop()
		cancel()
		return nil, err
	}
	response.Body = &cableBody{ReadCloser: response.Body, broken: broken, stop: stop, cancel: cancel}
	return response, nil
}

// cableBody is a response body that ends unexpectedly when the cable is cut.
type cableBody struct {
	io.ReadCloser
	broken context.Context
	stop   func() bool
	cancel context.CancelFunc
}

func (b *cableBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && b.broken.Err() != nil {
		return n, io.ErrUnexpectedEOF
	}
	return n, err
}

func (b *cableBody) Close() error {
	b.stop()
	defer b.cancel()
	return b.ReadCloser.Close()
}
