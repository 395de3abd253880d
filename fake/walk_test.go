package fake_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/matryer/is"
	"google.golang.org/protobuf/encoding/protowire"
	"sigs.k8s.io/yaml"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

// walked are the formats that clients request, as values of Accept. Each is requested with and without gzip.
var walked = []string{
	"",
	"application/json",
	"application/yaml",
	"application/vnd.kubernetes.protobuf, application/json",
	"application/vnd.kubernetes.protobuf",
	"application/cbor, application/json",
	"application/json;as=Table;v=v1;g=meta.k8s.io, application/json",
	"application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io, application/json",
	"application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io, application/json",
	"application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io, application/json",
	"application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io, application/json",
	"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList, application/json",
	"application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList, application/json",
	"application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
	"application/com.github.proto-openapi.spec.v3.v1.0+protobuf",
	"text/plain",
	"text/html",
}

// TestWalk checks that the server's response to a GET of any path that it advertises can be decoded in the way its
// headers describe: every document of /, and a collection and an object of every resource in discovery. The objects are
// so long that the responses with them are compressed.
func TestWalk(t *testing.T) {
	t.Parallel()
	srv := fake.RunT(t)
	c := client{t, srv}
	listener, err := srv.Listen(fake.ListenOptions{})
	is.New(t).NoErr(err)
	transport := &http.Transport{DisableCompression: true} // otherwise it would decode by itself, once
	defer transport.CloseIdleConnections()
	w := &walker{t: t, url: listener.URL(), client: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}, plain: map[string]any{}, decoded: map[[2]string]bool{}}
	paths := c.documentPaths()
	for _, s := range c.discover() {
		paths = append(paths, c.long(s)...)
	}
	for i, path := range paths {
		for j, accept := range walked {
			if testing.Short() && (i+j)%17 != 0 {
				continue
			}
			if !testing.Short() || i%4 == 0 {
				w.ask(path, accept, "")
			}
			w.ask(path, accept, "gzip")
		}
	}
	is.New(t).True(w.compressed > 80) // responses were compressed
}

// documentPaths returns the paths of all documents that are not resources. /openapi/v3/ is listed, but is only a prefix
// of paths.
func (c client) documentPaths() []string {
	_, text := c.do("GET", "/", "")
	paths := []string{"/"}
	for _, path := range c.parse(text).List("paths") {
		if path != "/openapi/v3/" {
			paths = append(paths, path.(string))
		}
	}
	_, text = c.do("GET", "/openapi/v3", "")
	index := c.parse(text).Map("paths")
	for _, key := range object.SortedKeys(index) {
		paths = append(paths, "/openapi/v3/"+key, index[key].(map[string]any)["serverRelativeURL"].(string))
	}
	return paths
}

// long creates an object with an annotation of 140,000 bytes, and returns the paths of its collection and of the
// object.
func (c client) long(s served) []string {
	c.t.Helper()
	if s.resource == "componentstatuses" {
		return []string{s.collection()}
	}
	if !slices.Contains(s.verbs, any("get")) {
		return nil
	}
	m := minimal[s.String()]
	name := m.name
	if name == "" {
		name = "minimal"
	}
	body := fmt.Sprintf(`{"metadata":{"name":%q,"annotations":{"a":%q}}`, name, strings.Repeat("x", 140_000))
	if m.body != "" {
		body += "," + m.body
	}
	code, text := c.do("POST", s.collection(), body+"}")
	if code != http.StatusCreated && code != http.StatusConflict { // it may already exist in another version of its group
		c.t.Fatalf("POST %s: %d %s", s.collection(), code, text)
	}
	return []string{s.collection(), s.collection() + "/" + name}
}

// walker requests paths and decodes the responses.
type walker struct {
	t          *testing.T
	url        string
	client     *http.Client
	compressed int            // number of compressed responses
	plain      map[string]any // the response of each path in JSON

	decoded map[[2]string]bool // content types and bodies that were decoded before
}

// ask requests a path and decodes the response, which must be equal in each format that contains all of it.
func (w *walker) ask(path, accept, encoding string) {
	w.t.Helper()
	r, err := http.NewRequest("GET", w.url+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	if encoding != "" {
		r.Header.Set("Accept-Encoding", encoding)
	}
	res, err := w.client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	wrong := func(format string, args ...any) {
		w.t.Helper()
		w.t.Errorf("GET %s, Accept: %s, Accept-Encoding: %s: %d %v\n\t%s", path, accept, encoding, res.StatusCode, res.Header, fmt.Sprintf(format, args...))
	}
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusNotAcceptable:
		anything := strings.HasPrefix(path, "/api") && !strings.Contains(accept, "as=") // a list is not a PartialObjectMetadata
		if accept == "" || anything && strings.HasSuffix(accept, "application/json") {
			wrong("JSON is always acceptable")
		}
	default:
		wrong("what is listed is there")
	}
	if body, err = w.unpack(res.Header, body, encoding); err != nil {
		wrong("%v", err)
		return
	}
	seen := [2]string{res.Header.Get("Content-Type"), string(body)}
	if w.decoded[seen] {
		return
	}
	w.decoded[seen] = true
	v, err := decode(res.Header.Get("Content-Type"), body)
	if err != nil {
		wrong("%v: %.80q", err, body)
		return
	}
	whole := res.StatusCode == http.StatusOK && v != nil && !strings.Contains(accept, "as=")
	if whole && w.plain[path] == nil {
		w.plain[path] = v
	}
	if whole && !reflect.DeepEqual(w.plain[path], v) {
		wrong("this is not what was answered without Accept")
	}
}

// unpack reverses the content encoding, which must be one that the client accepts, and must be applied only once.
func (w *walker) unpack(header http.Header, body []byte, accepted string) ([]byte, error) {
	if vary := header.Values("Vary"); len(slices.Compact(slices.Sorted(slices.Values(vary)))) != len(vary) {
		return nil, fmt.Errorf("Vary repeats itself: %q", vary)
	}
	if accepted == "" && len(body) > 2 && body[0] == 0x1f && body[1] == 0x8b {
		return nil, errors.New("compressed, though nobody asked for it")
	}
	switch encoding := header.Values("Content-Encoding"); {
	case len(encoding) == 0:
		return body, nil
	case len(encoding) > 1 || encoding[0] != accepted:
		return nil, fmt.Errorf("encoded as %q", encoding)
	}
	w.compressed++
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// decode parses a body according to its content type. It returns the value for JSON and YAML.
func decode(contentType string, body []byte) (any, error) {
	if len(body) == 0 {
		return nil, nil
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil, err
	}
	var v any
	switch {
	case media == "application/json" || media == "application/jwk-set+json" || bytes.HasPrefix(body, []byte(`{"paths":`)):
		err = json.Unmarshal(body, &v)
		return v, err
	case media == "application/yaml":
		err = yaml.UnmarshalStrict(body, &v)
		return v, err
	case media == "application/vnd.kubernetes.protobuf":
		rest, ok := bytes.CutPrefix(body, []byte("k8s\x00"))
		if !ok {
			return nil, errors.New("no magic number")
		}
		return nil, messages(rest)
	case strings.HasSuffix(media, "+protobuf"):
		return nil, messages(body)
	case strings.HasPrefix(media, "text/"):
		if !utf8.Valid(body) {
			return nil, errors.New("not text")
		}
		return nil, nil
	}
	return nil, errors.New("nobody asked for " + media)
}

// messages checks that b is a protobuf message.
func messages(b []byte) error {
	for len(b) > 0 {
		_, _, n := protowire.ConsumeField(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
	}
	return nil
}
