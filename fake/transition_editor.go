package fake

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"github.com/kubesim/kubesim/fake/explore/campaign"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/patch"
	"github.com/kubesim/kubesim/sim/schema"
)

const (
	// editsMost is the number of edits that are drawn for a run. Most of them may be invalid.
	editsMost = 200
	// editsKept is the number of different valid specs from which the second spec is chosen. The server may reject some of them as updates, because
	// fields are immutable.
	editsKept = 20
	// writesMost is the number of tries of a write, one per second, while a webhook of the operator does not respond.
	writesMost = 600
)

// transitionStream separates the random numbers of Transition from others with the same seed.
const transitionStream = 0x7472616e736974

// editor draws two specs for a custom resource and writes them.
//
//	schema ─▶ campaign.RandomPatch ─▶ edit ─ dry run ─▶ valid? ─▶ first, second
type editor struct {
	random   *rand.Rand
	manifest object.Object
	schema   []byte // of the spec, in JSON
	target   *target
	// first and second are the objects that editTwice has written.
	first, second object.Object
}

// newEditor returns an editor for the object of a Transition. It returns an error if the server has no definition with a schema for it.
func newEditor(srv *Server, x *Transition) (*editor, error) {
	list, err := codec.Manifest([]byte(x.Manifest))
	if err != nil {
		return nil, err
	}
	if len(list) != 1 || list[0].Name() == "" {
		return nil, fmt.Errorf("the manifest has %d objects, and must have one with a name", len(list))
	}
	e := &editor{random: rand.New(rand.NewPCG(srv.options.Seed, transitionStream)), manifest: list[0]}
	if e.schema = srv.specSchema(e.manifest, x.Keep); e.schema == nil {
		return nil, fmt.Errorf("the server has no definition of %s %s with a schema", e.manifest.APIVersion(), e.manifest.Kind())
	}
	path, err := srv.loader().collection(e.manifest)
	e.target = &target{srv, path}
	return e, err
}

// specSchema returns the OpenAPI schema of the spec of a custom resource in JSON, without the fields with the given names. It returns nil
// if there is no schema.
func (s *Server) specSchema(obj object.Object, without []string) (found []byte) {
	kind := schema.ParseGVK(obj.APIVersion(), obj.Kind())
	_ = s.observer.Inspect(func(view View) error { // the function does not return an error
		for _, d := range view.List("customresourcedefinitions.apiextensions.k8s.io", "") {
			for _, v := range d.Objects("spec", "versions") {
				spec := v.Map("schema", "openAPIV3Schema", "properties", "spec")
				if d.String("spec", "group") == kind.Group && d.String("spec", "names", "kind") == kind.Kind && v.String("name") == kind.Version && spec != nil {
					removeProperties(spec, without)
					found = object.JSON(spec)
				}
			}
		}
		return nil
	})
	return found
}

// removeProperties removes the fields with the given names from a schema, at any depth.
func removeProperties(schema map[string]any, names []string) {
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range names {
		delete(properties, name)
	}
	for _, x := range properties { // the order does not matter
		removeProperties(object.As(x), names)
	}
	for _, name := range []string{"items", "additionalProperties"} {
		if inner := object.As(schema[name]); inner != nil {
			removeProperties(inner, names)
		}
	}
}

// editTwice creates the object with a drawn spec, waits, and applies an edit of that spec, which is also valid for a new object. It
// returns an error if the server rejects all edits that were drawn.
func (e *editor) editTwice(wait time.Duration) error {
	candidates, err := e.draw()
	if len(candidates) == 0 {
		return fmt.Errorf("the server rejects each of %d edits, the last one with: %w", editsMost, err)
	}
	if err := e.target.write(e.first); err != nil {
		return err
	}
	e.target.srv.sleep(wait)
	err = errors.New("it changes nothing")
	for _, e.second = range candidates {
		changes, rejected := e.target.changes(e.second)
		if changes {
			return e.target.write(e.second)
		}
		if rejected != nil {
			err = rejected
		}
	}
	return fmt.Errorf("the server rejects each of %d edits of the object, the last one with: %w", len(candidates), err)
}

// draw draws a valid spec of a new object, and different valid edits of that spec. err is the answer to the last edit that was rejected.
func (e *editor) draw() (edits []object.Object, err error) {
	known := map[string]bool{} // specs, with defaults
	for n := 0; n < editsMost && len(edits) < editsKept; n++ {
		from := e.manifest
		if e.first != nil {
			from = e.first
		}
		edit, rejected := e.edit(from)
		var answer object.Object
		if rejected == nil {
			answer, rejected = e.target.try(edit, true)
		}
		spec := string(object.JSON(answer["spec"]))
		switch {
		case rejected != nil:
			err = rejected
			continue
		case e.first == nil:
			e.first = edit
		case !known[spec]:
			edits = append(edits, edit)
		}
		known[spec] = true
	}
	return edits, err
}

// edit returns an object with a spec that is drawn from the schema.
func (e *editor) edit(obj object.Object) (object.Object, error) {
	change := campaign.RandomPatch(e.random, campaign.Object{Schema: e.schema, Spec: object.JSON(obj["spec"])})
	edited, _, status := patch.Merge(object.JSON(map[string]any(obj)), change, patch.Ignore)
	if status != nil {
		return nil, status
	}
	return object.Parse(edited)
}

// target is a server that gets the object of an editor, from an administrator.
type target struct {
	srv  *Server
	path string // of the collection
}

// of returns the target for another server.
func (g *target) of(srv *Server) *target { return &target{srv, g.path} }

// write creates the object, or updates the existing one by server-side apply.
func (g *target) write(obj object.Object) error {
	_, err := g.try(obj, false)
	return err
}

// changes reports whether the server would change the spec of the existing object. It returns an error if the server would reject it.
func (g *target) changes(obj object.Object) (bool, error) {
	after, err := g.try(obj, true)
	if err != nil {
		return false, err
	}
	_, before, err := g.srv.loader().send(http.MethodGet, g.path+"/"+url.PathEscape(obj.Name()), "", nil)
	return err == nil && !object.Equal(before["spec"], after["spec"]), err
}

// try sends the object, if necessary several times, because a webhook may not respond. It returns the object in the answer, or an error
// with the message of the answer.
func (g *target) try(obj object.Object, dryRun bool) (object.Object, error) {
	l, query := g.srv.loader(), "?fieldManager="+loadManager
	if dryRun {
		query += "&dryRun=All"
	}
	method, path, contentType := http.MethodPost, g.path+query, "application/json"
	if l.stored(obj, g.path) {
		method, path, contentType = http.MethodPatch, g.path+"/"+url.PathEscape(obj.Name())+query+"&force=true", "application/apply-patch+yaml"
	}
	body := object.JSON(map[string]any(obj))
	for n := 1; ; n++ {
		code, answer, err := l.send(method, path, contentType, body)
		if err == nil && code < http.StatusMultipleChoices {
			return answer, nil
		}
		if err == nil {
			err = errors.New(answer.String("message"))
		}
		if n == writesMost || code != http.StatusTooManyRequests && code < http.StatusInternalServerError {
			return nil, err
		}
		g.srv.sleep(time.Second)
	}
}
