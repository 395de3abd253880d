package explore

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/fake/explore/campaign"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/trace"
)

// writeVerbs are the verbs of writes.
var writeVerbs = []string{"create", "update", "patch", "delete", "deletecollection"}

// answers are the results of the requests in a trace, by the number of the request's record.
type answers struct {
	codes map[uint64]int
	keys  map[uint64]string // of the objects that the requests created or changed
}

// answersIn returns the results of the requests in a trace.
func answersIn(records []trace.Record) answers {
	a := answers{map[uint64]int{}, map[uint64]string{}}
	for i := range records {
		switch q := &records[i]; q.Site {
		case trace.RequestAnswered:
			a.codes[q.Cause] = q.Code
		case trace.StoreCommitted:
			a.keys[q.Cause] = q.Key
		}
	}
	return a
}

// write returns the write of a record of a request that has arrived.
func (a answers) write(q *trace.Record, client string, began time.Time) campaign.Write {
	key := q.Key
	made, committed := a.keys[q.N]
	if q.Verb == "create" && committed {
		key = made
	}
	return campaign.Write{N: q.N, At: q.At.Sub(began), Client: client, Verb: q.Verb, What: q.What, Key: key, Code: a.codes[q.N],
		Committed: committed}
}

// collect records the requests, clients and resources of the run. It must be called before the cleanup.
func (t *trial) collect(x *testUnderPlan, r *recorder, out *campaign.Outcome) {
	s := t.server
	out.Happened = s.Faults.String()
	log := s.Trace()
	var sequences campaign.Sequences
	resources, writes := map[string]bool{}, map[string]int{}
	answers := answersIn(log.Records)
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range log.Records {
		q := &log.Records[i]
		if q.Site != trace.RequestArrived || q.Spared {
			continue
		}
		name := t.clientLocked(q.Client)
		sequences.Add(name, q.Verb+" "+q.What, answers.codes[q.N])
		if strings.HasPrefix(q.What, "/") {
			continue
		}
		resource, _, _ := strings.Cut(q.What, "/")
		resources[resource] = true
		if !slices.Contains(writeVerbs, q.Verb) {
			continue
		}
		if resource != "leases.coordination.k8s.io" && !strings.HasPrefix(resource, "events") {
			writes[name]++
		}
		out.Writes = append(out.Writes, answers.write(q, name, t.began))
	}
	out.Own, out.Others = t.ownWrites(log.Records, answers), t.otherCommits(log.Records)
	out.Sequences = sequences.List()
	out.Seen = campaign.Seen{Resources: object.SortedKeys(resources), Replicas: t.own - 1, Took: t.quiet,
		Clients: t.clients(writes), Objects: t.editable(x.options.Edits)}
}

// ownWrites returns the writes that the test itself sent before faults ended. The caller holds the lock.
func (t *trial) ownWrites(records []trace.Record, a answers) (list []campaign.Write) {
	for i := range records {
		q := &records[i]
		if q.Site == trace.RequestArrived && q.Spared && slices.Contains(writeVerbs, q.Verb) && !strings.HasPrefix(q.What, "/") &&
			!strings.HasPrefix(q.Client, editor) && q.At.Sub(t.began) < t.quiet {
			list = append(list, a.write(q, campaign.TestItself, t.began))
		}
	}
	return list
}

// otherCommits returns the commits of kubesim's controllers and nodes before faults ended, without leases, events and nodes: for each
// resource and verb, the first one in each second. The caller holds the lock.
func (t *trial) otherCommits(records []trace.Record) (list []campaign.Write) {
	type group struct {
		what, verb string
		second     time.Duration
	}
	known := map[group]bool{}
	for i := range records {
		q := &records[i]
		at := q.At.Sub(t.began)
		g := group{q.What, q.Verb, at.Truncate(time.Second)}
		if q.Site != trace.StoreCommitted || q.Cause != 0 || at >= t.quiet || known[g] || slices.Contains(frequent, q.What) {
			continue
		}
		known[g] = true
		list = append(list, campaign.Write{N: q.N, At: at, Verb: q.Verb, What: q.What, Key: q.Key, Committed: true})
	}
	return list
}

// frequent are the resources that controllers and nodes write all the time.
var frequent = []string{"leases.coordination.k8s.io", "events", "events.events.k8s.io", "nodes"}

// clients returns the clients under test.
func (t *trial) clients(writes map[string]int) (list []campaign.Client) {
	processes := t.server.Processes()
	for _, p := range processes {
		list = append(list, campaign.Client{Name: p.Name(), Writes: writes[p.Name()], Process: true})
	}
	for _, name := range t.names {
		if name != "" {
			list = append(list, campaign.Client{Name: name, Writes: writes[name]})
		}
	}
	for i := range list {
		list[i].Clock = t.server.HasClientClock(list[i].Name)
	}
	slices.SortFunc(list, func(a, b campaign.Client) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(list, func(a, b campaign.Client) bool { return a.Name == b.Name })
}

// editable returns the objects of the given resources, with the schemas of their specs.
func (t *trial) editable(resources []string) (list []campaign.Object) {
	for _, resource := range resources {
		schema := t.specSchema(resource)
		if schema == nil {
			continue
		}
		var found struct {
			Items []struct {
				Metadata struct{ Namespace, Name string }
				Spec     json.RawMessage
			}
		}
		_ = json.Unmarshal(t.ask("GET", t.collectionPath(resource), ""), &found) // on error there are no objects
		for _, item := range found.Items {
			list = append(list, campaign.Object{Resource: resource, Key: trace.Key(item.Metadata.Namespace, item.Metadata.Name),
				Schema: schema, Spec: item.Spec})
		}
	}
	return list
}

// definition contains the fields of a CustomResourceDefinition that are needed to edit objects.
type definition struct {
	Spec struct {
		Group    string
		Names    struct{ Plural string }
		Versions []struct {
			Name    string
			Storage bool
			Schema  struct {
				OpenAPIV3Schema struct{ Properties map[string]json.RawMessage }
			}
		}
	}
}

// definition returns the definition of a resource and the index of its storage version, or -1.
func (t *trial) definition(resource string) (d definition, version int) {
	_ = json.Unmarshal(t.ask("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+resource, ""), &d)
	for i, v := range d.Spec.Versions {
		if v.Storage {
			return d, i
		}
	}
	return d, -1
}

// specSchema returns the schema of a custom resource's spec, or nil if there is none.
func (t *trial) specSchema(resource string) []byte {
	d, version := t.definition(resource)
	if version < 0 {
		return nil
	}
	return d.Spec.Versions[version].Schema.OpenAPIV3Schema.Properties["spec"]
}

// collectionPath returns the path for listing all objects of a custom resource.
func (t *trial) collectionPath(resource string) string {
	d, version := t.definition(resource)
	if version < 0 {
		return "/apis"
	}
	return "/apis/" + d.Spec.Group + "/" + d.Spec.Versions[version].Name + "/" + d.Spec.Names.Plural
}

// objectPath returns the path of an object of a custom resource, or "" if the resource does not exist.
func (t *trial) objectPath(resource, key string) string {
	d, version := t.definition(resource)
	if version < 0 {
		return ""
	}
	path := "/apis/" + d.Spec.Group + "/" + d.Spec.Versions[version].Name
	namespace, name, ok := strings.Cut(key, "/")
	if ok {
		path += "/namespaces/" + namespace
	} else {
		name = key
	}
	return path + "/" + d.Spec.Names.Plural + "/" + name
}
