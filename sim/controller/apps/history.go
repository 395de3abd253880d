package apps

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	controllerRevisions = "controllerrevisions.apps"
	persistentClaims    = "persistentvolumeclaims"

	revisionHash = "controller-revision-hash"      // label of pods that names their revision
	dataHash     = "controller.kubernetes.io/hash" // label of revisions of StatefulSets: the hash of their data
)

// history contains the ControllerRevisions of a workload, which store its templates, with the oldest first
// (pkg/controller/history).
type history []object.Object

// historyOf returns the revisions of a workload. The workload adopts matching revisions without a controller.
func historyOf(w *workload.Workload, candidates []*resource.Item) (history, *status.Status) {
	mine, failed := w.Claim(controllerRevisions, candidates)
	if failed != nil {
		return nil, failed
	}
	var h history
	for _, it := range mine {
		h = append(h, it.Object())
	}
	slices.SortStableFunc(h, func(a, b object.Object) int {
		return cmp.Or(cmp.Compare(a.Int64("revision"), b.Int64("revision")),
			workload.TimeOf(a.String("metadata", "creationTimestamp")).Compare(workload.TimeOf(b.String("metadata", "creationTimestamp"))),
			cmp.Compare(a.Name(), b.Name()))
	})
	return h, nil
}

// next returns the number of the next revision.
func (h history) next() int64 {
	if len(h) == 0 {
		return 1
	}
	return h[len(h)-1].Int64("revision") + 1
}

// named returns the named revision, or nil.
func (h history) named(name string) object.Object {
	if i := slices.IndexFunc(h, func(r object.Object) bool { return r.Name() == name }); i >= 0 {
		return h[i]
	}
	return nil
}

// snapshot returns the data of a revision: the strategic merge patch that restores a workload's template.
func snapshot(template map[string]any) map[string]any {
	kept := object.Object(template).Copy()
	kept["$patch"] = "replace"
	return map[string]any{"spec": map[string]any{"template": map[string]any(kept)}}
}

// templateOf returns the template that a revision stores.
func templateOf(revision object.Object) object.Object {
	template := object.Object(revision.Map("data", "spec", "template")).Copy()
	delete(template, "$patch")
	return template
}

// keeps reports whether a revision stores the same data as a snapshot.
func keeps(revision object.Object, data map[string]any) bool {
	return string(object.JSON(revision["data"])) == string(object.JSON(data))
}

// newRevision returns a new revision of a workload, which the caller has to create. The value of label is the hash of the
// revision's data.
func newRevision(w *workload.Workload, name, label, hash string, number int64, data map[string]any) object.Object {
	labels := map[string]any{}
	maps.Copy(labels, w.Object.Map("spec", "template", "metadata", "labels"))
	labels[label] = hash
	meta := map[string]any{"name": name, "namespace": w.Object.Namespace(), "labels": labels, "ownerReferences": []any{w.Ref()}}
	if notes := w.Object.Map("metadata", "annotations"); len(notes) > 0 {
		meta["annotations"] = map[string]any(object.Object(notes).Copy())
	}
	return object.Object{"kind": "ControllerRevision", "apiVersion": "apps/v1", "metadata": meta, "data": data, "revision": number}
}

// renumber changes the number of a revision and returns the stored revision.
func renumber(api *controller.Client, revision object.Object, number int64) (object.Object, *status.Status) {
	changed := revision.Copy()
	changed["revision"] = number
	return api.Update(controllerRevisions, "", changed)
}

// hashOfData returns the hash in the names of StatefulSet revisions: the FNV-1 hash of the data and the collision count
// (history.HashControllerRevision).
func hashOfData(data map[string]any, collisions int64) string {
	h := fnv.New32()
	h.Write(object.JSON(data))
	h.Write([]byte(strconv.FormatInt(collisions, 10)))
	return safe(h.Sum32())
}

// safe encodes a hash in characters that cannot form words (rand.SafeEncodeString).
func safe(sum uint32) string {
	text := []byte(strconv.FormatUint(uint64(sum), 10))
	for i, c := range text {
		text[i] = safeCharacters[int(c)%len(safeCharacters)]
	}
	return string(text)
}

// revisionName returns the name of a StatefulSet revision. It truncates long names of sets.
func revisionName(set, hash string) string { return set[:min(len(set), 223)] + "-" + hash }
