// Package flowcontrol determines the FlowSchema and the PriorityLevelConfiguration of a request, as API Priority and Fairness of
// kube-apiserver does (apiserver/pkg/util/flowcontrol). Requests are neither queued nor refused here: the answer is two headers of
// every response.
//
//	stored FlowSchemas ──▶ those whose priority level exists, by matchingPrecedence and name
//	                         │ exempt first, catch-all last, stored or not
//	request ─ user, verb, resource or path ─▶ the first that matches ──▶ its uid, and that of its level
package flowcontrol

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// The storage names of the kinds that configure priority and fairness.
const (
	Schemas = "flowschemas.flowcontrol.apiserver.k8s.io"
	Levels  = "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io"
)

// The headers that name by uid what a request belongs to, in the form in which net/http keeps them.
const (
	SchemaHeader = "X-Kubernetes-Pf-Flowschema-Uid"
	LevelHeader  = "X-Kubernetes-Pf-Prioritylevel-Uid"
)

// Names of the schemas and levels that every server has. They have no uid while they are not stored.
const (
	exempt   = "exempt"
	catchAll = "catch-all"
)

// Config is all schemas in the order in which they are tried. It does not change.
type Config struct{ schemas []entry }

// entry is a schema and the header that names its level.
type entry struct {
	*schema
	level []string
}

// Digest contains the attributes of a request that classify it.
type Digest struct {
	User *resource.User
	Verb string

	IsResource                              bool
	Group, Resource, Subresource, Namespace string
	Path                                    string // of a request that is for no resource
}

// New returns the configuration that is stored.
func New(objects resource.Reader) *Config {
	levels := map[string][]string{exempt: {""}, catchAll: {""}}
	objects.Items(Levels, "", func(it *resource.Item) bool {
		levels[it.Name] = resource.Derived(it, uidOf)
		return true
	})
	c := &Config{}
	first, last := entry{mandatory(exempt), levels[exempt]}, entry{mandatory(catchAll), levels[catchAll]}
	missing := map[string]bool{exempt: true, catchAll: true}
	objects.Items(Schemas, "", func(it *resource.Item) bool {
		s := resource.Derived(it, schemaOf)
		if level := levels[s.level]; level != nil {
			c.schemas = append(c.schemas, entry{s, level})
			delete(missing, s.name)
		}
		return true
	})
	slices.SortStableFunc(c.schemas, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.precedence, b.precedence), cmp.Compare(a.name, b.name))
	})
	if missing[exempt] {
		c.schemas = slices.Insert(c.schemas, 0, first)
	}
	if missing[catchAll] {
		c.schemas = append(c.schemas, last)
	}
	return c
}

// uids is the value of a header.
type uids []string

func uidOf(o object.Object) uids { return uids{o.UID()} }

// Classify returns the values of SchemaHeader and LevelHeader for a request. They are shared and must not be changed.
func (c *Config) Classify(d *Digest) (schemaUID, levelUID []string) {
	var found *entry
	for i := range c.schemas {
		e := &c.schemas[i]
		if e.matches(d) {
			return e.uid, e.level
		}
		if e.name == catchAll {
			found = e
		}
	}
	return found.uid, found.level // the catch-all matches every user
}

// LongRunning reports whether a request is a stream that priority and fairness leaves alone.
func (d *Digest) LongRunning() bool {
	switch d.Subresource {
	case "attach", "exec", "proxy", "log", "portforward":
		return d.Verb != "watch"
	}
	return d.Verb == "proxy" || !d.IsResource && strings.HasPrefix(d.Path, "/debug/pprof/")
}
