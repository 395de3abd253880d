package encryption

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/kubesim/kubesim/fake/grpc"
)

// service is a key management service on a unix socket. Its methods wait for the network.
type service struct {
	name    string
	client  *grpc.Client
	timeout time.Duration
}

func newService(c *KMSConfiguration) (*service, error) {
	u, err := url.Parse(c.Endpoint)
	if err != nil {
		return nil, err
	}
	socket := u.Path // unix:///@name has an abstract socket
	if strings.HasPrefix(socket, "/@") {
		socket = socket[1:]
	}
	return &service{c.Name, grpc.Dial(socket), time.Duration(*c.Timeout)}, nil
}

// codes are the names of the codes of gRPC in errors.
var codes = map[int]string{grpc.Unknown: "Unknown", grpc.InvalidArgument: "InvalidArgument", grpc.DeadlineExceeded: "DeadlineExceeded",
	grpc.NotFound: "NotFound", grpc.ResourceExhausted: "ResourceExhausted", grpc.FailedPrecondition: "FailedPrecondition",
	grpc.OutOfRange: "OutOfRange", grpc.Unimplemented: "Unimplemented", grpc.UnavailableCode: "Unavailable"}

// call calls a method. The errors have the text of google.golang.org/grpc/status.
func (s *service) call(method string, q *grpc.Builder) (grpc.Message, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	m, err := s.client.Call(ctx, method, q)
	if e := (*grpc.Error)(nil); errors.As(err, &e) {
		name, ok := codes[e.Code]
		if !ok {
			name = fmt.Sprintf("Code(%d)", e.Code)
		}
		err = fmt.Errorf("rpc error: code = %s desc = %s", name, e.Text)
	}
	return m, err
}

// dataKey is a key that encrypts values, with its form that the service has encrypted.
type dataKey struct {
	transformer
	sealed []byte

	// For v2:
	id          string // of the service's key
	annotations map[string][]byte
	kind        int64 // seedKind, or 0 for the key of AES-GCM
}

// health is the last result of a health check.
type health struct {
	mu    sync.Mutex
	err   error
	asked time.Time
	until time.Time // when the service is asked again
}

// isOlder reports whether the last check was longer ago than a duration.
func (h *health) isOlder(now time.Time, d time.Duration) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return now.Sub(h.asked) > d
}

// The times for which the result of a health check is kept.
const (
	goodFor = 20 * time.Second
	badFor  = 3 * time.Second
)

// check returns the result of a health check, which ask performs if the last result is too old. Later calls return the bare error of the
// service, as in the real server.
func (h *health) check(now time.Time, ask func() (bare, err error)) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now.Before(h.until) {
		return h.err
	}
	bare, err := ask()
	h.asked = now
	if h.err, h.until = bare, now.Add(goodFor); err != nil {
		h.until = now.Add(badFor)
	}
	return err
}
