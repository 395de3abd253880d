package fake

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/fake/oracle"
	"github.com/kubesim/kubesim/fake/record"
	"github.com/kubesim/kubesim/sim/object"
)

// Recorded is a recording of a program (package record, kubesim proxy), for a test that runs this program, or a changed
// version of it. It repeats the writes of all other clients, and compares the objects that the program writes with the recorded ones.
// kubesim scenario-from --go writes such a test.
//
//	rec := fake.ReadRecording(t, "testdata/run.recording")
//	rec.Begin(t, srv)                  // stores the objects that the program read first
//	srv.Process(rec.Program, operator)
//	rec.Play(t, srv, 30*time.Minute)   // repeats the writes of other clients, and compares the final state
type Recorded struct {
	*record.Story
}

// ReadRecording reads the recording of a test. If it cannot be read, the test fails.
func ReadRecording(t TB, file string) *Recorded {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatalf("kubesim: %v", err)
		return nil
	}
	defer f.Close()
	entries, err := record.Read(f)
	var story *record.Story
	if err == nil {
		story, err = record.NewStory(entries)
	}
	if err != nil {
		t.Fatalf("kubesim: %s: %v", file, err)
		return nil
	}
	return &Recorded{story}
}

// Begin imports the objects that existed when the recording began, unchanged (Server.Import). It does not replace
// definitions that the server already has, so a test can load its own before. A manual clock that is behind the beginning of
// the recording advances to it.
func (r *Recorded) Begin(t TB, srv *Server) {
	t.Helper()
	var texts [][]byte
	for _, obj := range r.Objects {
		if obj.Kind() == "CustomResourceDefinition" {
			if code, _ := r.ask(srv, http.MethodGet, r.PathOf(obj), "", nil); code == http.StatusOK {
				continue
			}
		}
		texts = append(texts, object.JSON(map[string]any(obj)))
	}
	done, err := srv.cluster.Import(texts, r.Began)
	if err == nil {
		err = srv.journal.rewrite(srv.cluster)
	}
	if err != nil {
		t.Fatalf("kubesim: %v", err)
		return
	}
	for _, x := range done.Refused {
		obj, _ := object.Parse(texts[x.Index]) // it is the text of an object
		oracle.Errorf(t)("kubesim: the recording begins with %s %s, which the server refuses: %v", obj.Kind(), obj.Name(), x.Reason)
	}
}

// Play sends the recorded writes of other clients at their times, counted from now. Uids in them are replaced by those of
// the same objects in this run. A write waits until its object exists, because the program may create it later than in the
// recording. A minute after the end of the recording, Play ends all faults (Server.Heal). The test fails unless, within d after that,
// the objects that the program writes have the same state as at the end of the recording. Play does not compare uids,
// revisions, times, managed fields and the suffixes of generated names, nor fields that other clients wrote last, because these
// clients do not react to the program.
func (r *Recorded) Play(t TB, srv *Server, d time.Duration) {
	t.Helper()
	p := &playing{r, t, srv, nil, map[string]bool{}}
	began := p.now()
	for i := range r.Writes {
		if w := &r.Writes[i]; !w.Own {
			p.waitUntil(began.Add(w.At.Sub(r.Began)))
			p.send(w)
		}
	}
	p.waitUntil(began.Add(r.Ended.Sub(r.Began) + time.Minute)) // the program is still at work, under faults
	srv.Heal()
	until := p.now().Add(d)
	for p.waitUntil(p.now().Add(min(d, time.Minute))); ; { // the program may have retries left
		differences := r.differences(srv)
		switch {
		case differences == "" && len(p.late) == 0:
			return
		case !p.now().Before(until):
			for _, w := range p.late {
				t.Logf("kubesim: a write of the recording found no object: %s %s", w.Method, w.Path)
			}
			if differences != "" {
				oracle.Errorf(t)("kubesim: the objects differ from those at the end of the recording (-) after %v:\n%s", d, differences)
			}
			return
		}
		p.waitUntil(p.now().Add(10 * time.Second))
	}
}

// playing is a run of Play.
type playing struct {
	*Recorded
	t    TB
	srv  *Server
	late []*record.Write // writes that wait until their objects exist, in order
	met  map[string]bool // paths of objects that existed at an earlier write
}

func (p *playing) now() time.Time { return p.srv.cluster.Clock().Now() }

// waitUntil waits until a time. Meanwhile it sends late writes, once a second.
func (p *playing) waitUntil(at time.Time) {
	for left := at.Sub(p.now()); left > 0; left = at.Sub(p.now()) {
		if len(p.late) > 0 {
			left = min(left, time.Second)
		}
		timer := p.srv.cluster.Clock().NewTimer(left)
		<-timer.C()
		late := p.late
		p.late = nil
		for _, w := range late {
			p.send(w)
		}
	}
}

// pathOf returns the path of the object that a write changes.
func pathOf(w *record.Write) string {
	path, _, _ := strings.Cut(w.Path, "?")
	return strings.TrimSuffix(path, "/status")
}

// send sends a write, unless an earlier one of the same object is late. If the object does not exist, the write becomes
// late, unless it deletes an object that has existed.
func (p *playing) send(w *record.Write) {
	path := pathOf(w)
	if slices.ContainsFunc(p.late, func(x *record.Write) bool { return pathOf(x) == path }) {
		p.late = append(p.late, w)
		return
	}
	code, answer := p.play(p.srv, w)
	switch {
	case code < http.StatusBadRequest:
		p.met[path] = true
	case code == http.StatusNotFound && !(w.Method == http.MethodDelete && p.met[path]):
		p.late = append(p.late, w)
	case code != http.StatusNotFound:
		p.t.Logf("kubesim: a write of the recording was refused: %s %s: %s", w.Method, w.Path, answer.String("message"))
	}
}

// uid matches uids, which differ in each run.
var uid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// play sends a recorded write of another client.
func (r *Recorded) play(srv *Server, w *record.Write) (int, object.Object) {
	if w.Body == nil {
		return r.ask(srv, w.Method, w.Path, "", nil)
	}
	body := uid.ReplaceAllFunc(object.JSON(w.Body), func(was []byte) []byte {
		if path := r.Paths[string(was)]; path != "" {
			if _, obj := r.ask(srv, http.MethodGet, path, "", nil); obj.UID() != "" {
				return []byte(obj.UID())
			}
		}
		return was
	})
	return r.ask(srv, w.Method, w.Path, w.ContentType, body)
}

// ask sends a request and returns the code and the object of the response. If the test itself calls it, the faults of a plan
// do not apply to the request.
func (r *Recorded) ask(srv *Server, method, path, contentType string, body []byte) (int, object.Object) {
	q, err := http.NewRequestWithContext(context.Background(), method, srv.URL()+path, bytes.NewReader(body))
	if err != nil {
		return http.StatusBadRequest, object.Object{"message": err.Error()}
	}
	q.Header.Set("User-Agent", "others")
	if len(body) > 0 && contentType == "" {
		contentType = "application/json"
	}
	if contentType != "" {
		q.Header.Set("Content-Type", contentType)
	}
	res, err := srv.loader().transport.RoundTrip(q)
	if err != nil {
		return http.StatusServiceUnavailable, object.Object{"message": err.Error()}
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return http.StatusServiceUnavailable, object.Object{"message": err.Error()}
	}
	obj, _ := object.Parse(data) // the caller uses the code if it is not an object
	return res.StatusCode, obj
}

// differences returns the lines in which the objects that the program writes differ from the recording, and a line for each
// additional object in the same collections.
func (r *Recorded) differences(srv *Server) string {
	var out strings.Builder
	lists := map[string]map[string]object.Object{} // by the path of the collection and of the object
	for _, path := range object.SortedKeys(r.Last) {
		was, collection := r.Last[path], path[:strings.LastIndexByte(path, '/')]
		if lists[collection] == nil {
			lists[collection] = r.list(srv, collection)
		}
		list, now := lists[collection], lists[collection][path]
		if base := was.GenerateName(); base != "" && now == nil {
			for _, other := range object.SortedKeys(list) {
				item := list[other]
				item.SetDefault(was.APIVersion(), "apiVersion")
				item.SetDefault(was.Kind(), "kind")
				if item.GenerateName() == base && (now == nil || r.differ(path, was, item) == "") {
					now = item
				}
			}
			delete(list, collection+"/"+now.Name())
		}
		if now != nil {
			now.SetDefault(was.APIVersion(), "apiVersion") // items of a list do not have them
			now.SetDefault(was.Kind(), "kind")
		}
		if lines := r.differ(path, was, now); lines != "" {
			fmt.Fprintf(&out, "%s\n%s", path, lines)
		}
		delete(list, path)
	}
	for _, collection := range object.SortedKeys(lists) {
		for _, path := range object.SortedKeys(lists[collection]) {
			if !r.Knows(path) {
				fmt.Fprintf(&out, "%s\n+ it is not in the recording\n", path)
			}
		}
	}
	return out.String()
}

// list returns the objects of a collection by their paths, without the objects that a garbage collector would delete.
func (r *Recorded) list(srv *Server, collection string) map[string]object.Object {
	_, list := r.ask(srv, http.MethodGet, collection, "", nil)
	all := map[string]object.Object{}
	for _, item := range list.Objects("items") {
		if !r.isGarbage(srv, item) {
			all[collection+"/"+item.Name()] = item
		}
	}
	return all
}

// isGarbage reports whether an object has owners that do not exist, so that the garbage collector of a cluster would delete
// it.
func (r *Recorded) isGarbage(srv *Server, obj object.Object) bool {
	owners := obj.Objects("metadata", "ownerReferences")
	return len(owners) > 0 && !slices.ContainsFunc(owners, func(o object.Object) bool {
		owner := object.Object{"apiVersion": o["apiVersion"], "kind": o["kind"], "metadata": map[string]any{"name": o["name"], "namespace": obj.Namespace()}}
		path := r.PathOf(owner)
		if path == "" {
			return true // it is not known whether it exists
		}
		_, found := r.ask(srv, http.MethodGet, path, "", nil)
		return found.UID() == o.String("uid")
	})
}

// differ returns the lines in which an object differs from its last state in the recording.
func (r *Recorded) differ(path string, was, now object.Object) string {
	return oracle.Differ(r.OfProgram(path, was), r.OfProgram(path, now))
}
