package crd

import (
	"crypto/sha256"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// memoryMax and failedMax limit a Memory for each definition: the size of the converted objects in bytes, and the number
// of failures.
const (
	memoryMax = 32 << 20
	failedMax = 1000
)

// Memory caches the results of conversion webhooks for the watch caches. The real server's caches contain each object in
// all versions. Here, the webhook is called when the object is written, without holding the Cluster's lock. Lists and
// watches then use its results. A get from the store calls the webhook again.
//
//	definition ─▶ webhook, object without its resourceVersion, requested version ─▶ converted, as JSON
//	                                                            └▶ the error of the conversion, until the next call
//
// The zero value is empty. The Cluster's lock guards it.
type Memory struct{ of map[string]*answers }

// answers are the cached results for the objects of one definition.
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

// Forget clears the cache.
func (m *Memory) Forget() { *m = Memory{} }

// forgetAnswers removes the results of webhooks for the objects of a definition.
func (s *Server) forgetAnswers(name string) {
	if s.Host != nil {
		delete(s.Host.Memory().of, name)
	}
}

// answers returns the results for the objects of a definition.
func (m *Memory) answers(name string) *answers {
	if m.of == nil {
		m.of = map[string]*answers{}
	}
	if m.of[name] == nil {
		m.of[name] = &answers{}
	}
	return m.of[name]
}

// recall returns the cached result. If again is true, it ignores a cached failure, so that the webhook is called again.
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

// Asks reports whether the objects of a definition are converted by a webhook.
func (s *Server) Asks(name string) bool {
	d := s.definitions[name]
	return d != nil && len(d.versions) > 1 && d.conversion.String("strategy") == "Webhook" &&
		(s.Host == nil || s.Host.Converter(name) == nil)
}

// prepare converts an object that is about to be stored to every version that is served or stored. The commit sends it to
// watches in all of these versions and must not wait for a webhook.
func (d *definition) prepare(by resource.Asker, obj object.Object) {
	if !d.server.Asks(d.name) {
		return
	}
	obj = obj.Copy()
	obj.Remove("metadata", "resourceVersion") // the resourceVersion is not known before the commit
	for _, apiVersion := range object.SortedKeys(d.versions) {
		if !d.versions[apiVersion].cached {
			continue
		}
		_, _ = d.fromStored(obj.Copy(), d.versions[apiVersion], d.learn(by)) // failures are also cached
	}
}
