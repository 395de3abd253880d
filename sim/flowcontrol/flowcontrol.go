// Package flowcontrol determines the FlowSchema and the PriorityLevelConfiguration of a request, like API Priority and Fairness of
// kube-apiserver (apiserver/pkg/util/flowcontrol). It does not queue or reject requests; it only sets two headers in each response.
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

// The storage names of the kinds that configure API Priority and Fairness.
const (
	Schemas = "flowschemas.flowcontrol.apiserver.k8s.io"
	Levels  = "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io"
)

// The headers that contain the uids of the flow schema and the priority level of a request, in canonical form.
const (
	SchemaHeader = "X-Kubernetes-Pf-Flowschema-Uid"
	LevelHeader  = "X-Kubernetes-Pf-Prioritylevel-Uid"
)

// Names of the schemas and levels that every server has. They have no uid if they are not stored.
const (
	exempt   = "exempt"
	catchAll = "catch-all"
)

// Config contains all schemas in the order in which they are matched. It is immutable.
type Config struct{ schemas []entry }

// entry is a schema and the header value for its level.
type entry struct {
	*schema
	level []string
}

// Digest contains those attributes of a request that determine its flow schema.
type Digest struct {
	User *resource.User
	Verb string

	IsResource                              bool
	Group, Resource, Subresource, Namespace string
	Path                                    string // path of a request that is not for a resource
}

// New returns the Config for the stored objects.
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

// uids is the value of a header, a list with one uid.
type uids []string

func uidOf(o object.Object) uids { return uids{o.UID()} }

// Classify returns the values of SchemaHeader and LevelHeader for a request. The slices are shared and must not be modified.
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
	return found.uid, found.level // the catch-all schema matches every user
}

// LongRunning reports whether a request is a stream to which API Priority and Fairness does not apply.
func (d *Digest) LongRunning() bool {
	switch d.Subresource {
	case "attach", "exec", "proxy", "log", "portforward":
		return d.Verb != "watch"
	}
	return d.Verb == "proxy" || !d.IsResource && strings.HasPrefix(d.Path, "/debug/pprof/")
}
