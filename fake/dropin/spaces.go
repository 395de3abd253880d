package dropin

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/kubesim/kubesim/clock"
	v3 "github.com/kubesim/kubesim/fake/etcd"
	"github.com/kubesim/kubesim/fake/grpc"
)

// spaces are the keys of etcd, by prefix. The keys of a prefix are in the stores of the processes of its API servers. Calls are
// forwarded to the first of them:
//
//	PUT /registry/pods/a ─▶ space /registry      ─▶ API server 1 ─▶ its store, which writes DIR
//	                                                API servers 2, 3, … with copies of the store
//	PUT /abc/registry/…  ─▶ space /abc/registry  ─▶ another one, with its store in DIR/prefixes/abc%2Fregistry
//	PUT /other           ─▶ no space             ─▶ rest, in memory, until an API server with such a prefix starts
type spaces struct {
	dir     string
	rest    *v3.Memory
	service *v3.Service

	mu       sync.Mutex
	byPrefix map[string]*space
}

// newSpaces returns the spaces in a folder.
func newSpaces(dir string) *spaces {
	s := &spaces{dir: dir, rest: v3.NewMemory(), byPrefix: map[string]*space{}}
	s.service = v3.New(s.rest, clock.System{})
	if files, err := filepath.Glob(filepath.Join(dir, "*.archive")); err == nil && len(files) > 0 {
		s.space(v3.DefaultPrefix)
	}
	entries, _ := os.ReadDir(filepath.Join(dir, prefixes)) // a new folder has none
	for _, e := range entries {
		if prefix, err := url.PathUnescape(e.Name()); err == nil {
			s.space("/" + prefix)
		}
	}
	return s
}

// prefixes is the folder with the folders of all prefixes but the default one.
const prefixes = "prefixes"

// space returns the space of a prefix, and creates it if necessary.
func (s *spaces) space(prefix string) *space {
	prefix = "/" + strings.Trim(prefix, "/")
	if x := s.byPrefix[prefix]; x != nil {
		return x
	}
	x := &space{prefix: prefix, dir: s.dir}
	if prefix != v3.DefaultPrefix {
		x.dir = filepath.Join(s.dir, prefixes, url.PathEscape(prefix[1:]))
	}
	s.byPrefix[prefix] = x
	return x
}

// ServeHTTP serves a call of gRPC.
func (s *spaces) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call := grpc.NewCall(w, r)
	first, err := call.Receive()
	if err != nil && err != io.EOF {
		call.End(err)
		return
	}
	if err == nil {
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(grpc.Frame(first)), r.Body))
	}
	keys, err := v3.KeysOf(r.URL.Path, first)
	if err != nil {
		call.End(err)
		return
	}
	to, err := s.route(r.URL.Path, keys)
	switch {
	case err != nil:
		call.End(err)
	case to == nil:
		s.service.ServeHTTP(w, r)
	default:
		to.ServeHTTP(w, r)
	}
}

// route returns the API server that has keys, or nil if none has. keys.Key is "" for a call that concerns no keys. route
// returns an error if the keys belong to several API servers, or to one that does not run.
func (s *spaces) route(method string, keys v3.Range) (to *member, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	removes, writes := strings.HasSuffix(method, "/DeleteRange"), strings.HasSuffix(method, "/Put")
	var idle *space
	running := 0
	for _, x := range s.byPrefix { // order does not matter: several running ones are an error
		switch {
		case keys.Key != "" && !keys.Overlaps(x.prefix+"/"):
		case len(x.members) > 0:
			to = x.members[0]
			running++
		case removes && keys.Covers(x.prefix+"/"):
			if err := x.clear(); err != nil {
				return nil, err
			}
		default:
			idle = x
		}
	}
	switch {
	case running > 1 && keys.Key != "":
		return nil, grpc.Unavailable("kubesim's etcd: the range has keys of several API servers")
	case keys.Key == "" && (running != 1 || !s.rest.Empty()):
		return nil, nil
	case running == 0 && idle != nil && keys.Key != "" && !writes:
		return nil, notRunning(idle.prefix)
	}
	return to, nil
}

// clear removes the data of a space without an API server.
func (x *space) clear() error {
	entries, err := os.ReadDir(x.dir)
	if err != nil {
		return nil //nolint:nilerr // there is no data
	}
	for _, e := range entries {
		if !e.IsDir() {
			err = cmp.Or(err, os.Remove(filepath.Join(x.dir, e.Name())))
		}
	}
	return err
}

func notRunning(prefix string) error {
	return grpc.Unavailable("kubesim's etcd: no API server runs over the keys below " + prefix)
}

// ServeHTTP forwards a call of gRPC to the API server. An API server listens before it takes its data, so one that refuses a connection
// is about to end: the answer is the one after its end.
func (x *member) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(x.keys) },
		Transport:     transport,
		FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			result := grpc.Unavailable(err.Error())
			if errors.Is(err, syscall.ECONNREFUSED) {
				select {
				case <-x.gone:
					result = notRunning(x.space.prefix)
				case <-r.Context().Done():
				}
			}
			grpc.NewCall(w, r).End(result)
		},
	}
	proxy.ServeHTTP(w, r)
}
