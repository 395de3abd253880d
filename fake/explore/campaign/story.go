package campaign

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Sent is a write as it was sent over the wire, for a Story.
type Sent struct {
	At          time.Duration // virtual time since the beginning of the run
	Client      string
	Method      string
	Path        string // including the query
	ContentType string
	Body        []byte
	Name        string // for a create with generateName: the generated name
}

// Story returns a scenario (.txtar) in which the clients repeat the writes of a run, in order and at the same times. It
// omits resourceVersions and uids, which are specific to the run, so the scenario does not show on which version a
// write was based. ok is false if there are no writes, or if a body is not JSON, which a scenario cannot contain.
func Story(title string, writes []Sent) (text string, ok bool) {
	var script, files strings.Builder
	fmt.Fprintf(&script, "# %s\n# The writes, with their clients and times.\n\n", strings.ReplaceAll(title, "\n", "\n# "))
	now := time.Duration(0)
	for i, w := range writes {
		if at := w.At.Truncate(time.Millisecond); at > now {
			fmt.Fprintf(&script, "tick %v\n", at-now)
			now = at
		}
		fmt.Fprintf(&script, "request %s %s --as %s", w.Method, w.Path, w.Client)
		if len(w.Body) > 0 && w.Method != http.MethodDelete {
			body, ok := w.body()
			if !ok {
				return "", false
			}
			name := fmt.Sprintf("w%d.json", i+1)
			fmt.Fprintf(&script, " -f %s -H 'Content-Type: %s'", name, w.ContentType)
			fmt.Fprintf(&files, "-- %s --\n%s\n", name, body)
		}
		script.WriteString("\n")
	}
	return script.String() + "\n" + files.String(), len(writes) > 0
}

// body returns the written object as JSON, without the fields that are specific to one run.
func (w *Sent) body() ([]byte, bool) {
	var obj any
	d := json.NewDecoder(bytes.NewReader(w.Body))
	d.UseNumber()
	if !strings.Contains(w.ContentType, "json") || d.Decode(&obj) != nil {
		return nil, false
	}
	if fields, ok := obj.(map[string]any); ok {
		if meta, ok := fields["metadata"].(map[string]any); ok {
			delete(meta, "resourceVersion")
			delete(meta, "uid")
			if w.Name != "" {
				meta["name"] = w.Name
			}
		}
	}
	data, err := json.MarshalIndent(obj, "", "  ")
	return data, err == nil
}

// linkMost is the maximum length of a link in bytes. Some browsers and chat programs truncate longer links.
const linkMost = 8000

// SiteVariable is the environment variable with the address of the page, for example https://example.com/kubesim/.
const SiteVariable = "KUBESIM_SITE"

// anyEngine replaces the name of the engine in a link, because a scenario runs with all engines.
const anyEngine = "any"

// Link returns a link that opens a scenario in the page at site, or "" if it would be too long.
func Link(site, scenario string) string {
	world, err := json.Marshal(map[string]string{"scenario": scenario})
	if err != nil {
		return ""
	}
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		return ""
	}
	if _, err := w.Write(world); err != nil || w.Close() != nil {
		return ""
	}
	link := site + "#v1." + anyEngine + "." + base64.RawURLEncoding.EncodeToString(packed.Bytes())
	if len(link) > linkMost {
		return ""
	}
	return link
}
