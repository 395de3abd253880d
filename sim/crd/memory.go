package crd

import (
	"crypto/sha256"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// memoryMax and failedMax bound a Memory for each definition: the bytes of converted objects, and the failures.
const (
	memoryMax = 32 << 20
	failedMax = 1000
)

// Memory caches the results of conversion webhooks for the watch caches. The real server's caches hold an object in each version.
// Here the webhook is called when the object is written, without blocking the Cluster's lock, and lists and watches use its
// results. A get from the store calls it again.
//
//	definition ─▶ webhook, object without its resourceVersion, version asked for ─▶ converted, as JSON
//	                                                            └▶ the error of the conversion, until the next call
//
// The zero value is empty. The Cluster's lock guards it.
type Memory struct{ of map[string]*answers }

// answers are those about the objects of one definition.
type answers struct {
	converted map[memoryKey][]byte
	bytes     int
	failed    map[memoryKey]error
}

type memoryKey [sha256.Size]byte

func (d *definition) memoryKey(obj object.Object, apiVersion string) memoryKey {
	text := append(object.JSON(map[string]any(d.conversion)), 0)
	text = append(append(text, apiVersion...), 0)
	return sha256.Sum256(append(text, object.JSON(map[string]any(obj))...))
}

// Forget empties the memory.
func (m *Memory) Forget() { *m = Memory{} }

// forgetAnswers drops the results of webhooks for the objects of a definition.
func (s *Server) forgetAnswers(name string) {
	if s.Host != nil {
		delete(s.Host.Memory().of, name)
	}
}

// answers returns those about the objects of a definition.
func (m *Memory) answers(name string) *answers {
	if m.of == nil {
		m.of = map[string]*answers{}
	}
	if m.of[name] == nil {
		m.of[name] = &answers{}
	}
	return m.of[name]
}

// recall returns the known result. If again is set, a failure does not count, so that the webhook is called once more.
func (m *answers) recall(key memoryKey, again bool) (obj object.Object, err error, known bool) {
	if data, ok := m.converted[key]; ok {
		obj, err = object.Parse(data)
		return obj, err, true
	}
	if err, known = m.failed[key]; known && !again {
		return nil, err, true
	}
	return nil, nil, false
}

func (m *answers) learn(key memoryKey, obj object.Object, err error) {
	if err != nil {
		if m.failed == nil || len(m.failed) >= failedMax {
			m.failed = map[memoryKey]error{}
		}
		m.failed[key] = err
		return
	}
	delete(m.failed, key)
	data := object.JSON(map[string]any(obj))
	if m.converted == nil || m.bytes+len(data) > memoryMax {
		m.converted, m.bytes = map[memoryKey][]byte{}, 0
	}
	m.bytes += len(data) - len(m.converted[key])
	m.converted[key] = data
}

// Asks reports whether a webhook converts the objects of a definition.
func (s *Server) Asks(name string) bool {
	d := s.definitions[name]
	return d != nil && len(d.versions) > 1 && d.conversion.String("strategy") == "Webhook" &&
		(s.Host == nil || s.Host.Converter(name) == nil)
}

// prepare converts an object, as it is about to be stored, into every version that is served or stored: a commit shows it to
// watches in all of them, and must not wait for a webhook.
func (d *definition) prepare(by resource.Asker, obj object.Object) {
	if !d.server.Asks(d.name) {
		return
	}
	obj = obj.Copy()
	obj.Remove("metadata", "resourceVersion") // which follows from the commit
	for _, apiVersion := range object.SortedKeys(d.versions) {
		if !d.versions[apiVersion].cached {
			continue
		}
		_, _ = d.fromStored(obj.Copy(), d.versions[apiVersion], d.learn(by)) // a failure is remembered too
	}
}
