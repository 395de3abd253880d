package dropin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/encryption"
	v3 "github.com/kubesim/kubesim/fake/etcd"
	"github.com/kubesim/kubesim/sim/cbor"
)

// dataPath is the path of the request with which an API server locks a folder of etcd for itself. The lock ends with the response. The
// query has the prefix of the API server's keys, and the URL at which it serves them to etcd.
const dataPath = "/kubesim/data"

// loan is the response at dataPath, as JSON.
type loan struct {
	Dir    string     `json:"dir"`
	Writes []v3.Write `json:"writes,omitempty"` // of clients of etcd, below the prefix
}

// lent is a folder that etcd has locked for this API server until Close. Gone is closed when that etcd ends.
type lent struct {
	loan
	Gone <-chan struct{}

	prefix string
	keys   net.Listener
	body   io.Closer
}

// Close releases the folder.
func (l *lent) Close() {
	if l.body != nil {
		_ = l.body.Close() // ends the response
		_ = l.keys.Close() // of a listener on this machine
	}
}

var errForeign = errors.New("it is not kubesim's etcd: data is kept in memory only")

const (
	borrowPatience = 20 * time.Second // for an etcd that is starting, and for a previous API server that is ending
	borrowPoll     = 5 * time.Millisecond
)

// borrow locks the folder for a prefix of the etcd at a URL. It waits up to borrowPatience for an etcd that is starting, or for another
// API server that is ending. If the server is not kubesim's etcd, the error is errForeign.
func borrow(ctx context.Context, etcd, prefix string) (*lent, error) {
	ctx, cancel := context.WithTimeout(ctx, borrowPatience)
	defer cancel()
	for {
		l, err := borrowOnce(etcd, prefix)
		if err == nil || errors.Is(err, errForeign) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("etcd at %s: %w", etcd, err)
		case <-time.After(borrowPoll):
		}
	}
}

func borrowOnce(etcd, prefix string) (l *lent, err error) {
	keys, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			keys.Close()
		}
	}()
	query := url.Values{"prefix": {prefix}, "keys": {"http://" + keys.Addr().String()}}
	res, err := (&http.Client{Transport: &http.Transport{}}).Get(strings.TrimSuffix(etcd, "/") + dataPath + "?" + query.Encode())
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		defer res.Body.Close()
		if res.StatusCode == http.StatusConflict {
			return nil, errors.New("another API server has the data")
		}
		return nil, errForeign
	}
	l = &lent{prefix: prefix, keys: keys, body: res.Body}
	d := json.NewDecoder(res.Body)
	if err := d.Decode(&l.loan); err != nil {
		res.Body.Close()
		return nil, err
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = io.Copy(io.Discard, res.Body) // until the response ends for any reason
	}()
	l.Gone = gone
	return l, nil
}

// open repeats the writes of clients of etcd from the time before the API server started, and serves the keys of the API server to etcd.
// values encrypts the values; it may be nil.
func (l *lent) open(srv *fake.Server, values *encryption.Values, stderr io.Writer) {
	if values != nil {
		values.Attach(srv.Storage(), l.prefix)
	}
	if l.keys == nil {
		return
	}
	objects := v3.NewObjects(srv.Storage(), l.prefix, cbor.Codec{})
	if values != nil {
		objects.Encrypted(values)
	}
	for _, err := range objects.Replay(l.Writes) {
		fmt.Fprintf(stderr, "kube-apiserver (kubesim): etcd: %v\n", err)
	}
	server := &http.Server{Handler: v3.New(objects, clock.System{}), ReadHeaderTimeout: time.Minute, Protocols: new(http.Protocols)}
	server.Protocols.SetUnencryptedHTTP2(true)
	go func() { _ = server.Serve(l.keys) }() // until Close
}
