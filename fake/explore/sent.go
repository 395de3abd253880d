package explore

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/kubesim/kubesim/fake/explore/campaign"
)

// recordWrite records a write if the trial records writes. The caller must pass the response to told, or nil if there
// is none. Writes that the server rejects with a 4xx status are not recorded. Writes without a response are.
func (t *trial) recordWrite(r *http.Request) (told func(*http.Response)) {
	if !t.full || !counts(r) {
		return func(*http.Response) {}
	}
	w := campaign.Sent{At: t.clock.Now().Sub(t.began), Method: r.Method, Path: r.URL.RequestURI(),
		ContentType: r.Header.Get("Content-Type")}
	w.Client, _, _ = strings.Cut(r.Header.Get("User-Agent"), " ")
	if w.Client, _, _ = strings.Cut(w.Client, "/"); w.Client == "" {
		w.Client = "test"
	}
	if r.Body != nil {
		w.Body, _ = io.ReadAll(r.Body) // cannot fail: the body is in memory
		r.Body.Close()
		r.Body = io.NopCloser(bytes.NewReader(w.Body))
	}
	return func(res *http.Response) {
		if res != nil && res.StatusCode >= http.StatusBadRequest && res.StatusCode < http.StatusInternalServerError {
			return
		}
		if res != nil && bytes.Contains(w.Body, []byte(`"generateName"`)) {
			w.Name = createdName(res)
		}
		t.mu.Lock()
		t.sent = append(t.sent, w)
		t.mu.Unlock()
	}
}

// createdName returns the name of the object in a response to a create.
func createdName(res *http.Response) string {
	data, err := io.ReadAll(res.Body)
	res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(data))
	var obj struct{ Metadata struct{ Name string } }
	if err != nil || json.Unmarshal(data, &obj) != nil {
		return ""
	}
	return obj.Metadata.Name
}
