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

	revisionHash = "controller-revision-hash"      // the label of pods: the revision that they have
	dataHash     = "controller.kubernetes.io/hash" // the label of revisions of StatefulSets
)

// history is the ControllerRevisions of a workload, the oldest first: the templates that it had (pkg/controller/history).
type history []object.Object

// historyOf returns the revisions of a workload, which adopts matching revisions without a controller.
func historyOf(w *workload.Workload, candidates []*resource.Item) (history, *status.Status) {
	mine, failed := w.Claim(controllerRevisions, candidates)
	if failed != nil {
		return nil, failed
	}
	var h history
	for _, it := range mine {
		h = append(h, it.Object())
	}
	slices.SortFunc(h, func(a, b object.Object) int {
		return cmp.Or(cmp.Compare(a.Int64("revision"), b.Int64("revision")),
			workload.TimeOf(a.String("metadata", "creationTimestamp")).Compare(workload.TimeOf(b.String("metadata", "creationTimestamp"))),
			cmp.Compare(a.Name(), b.Name()))
	})
	return h, nil
}

// next is the number of the revision that follows.
func (h history) next() int64 {
	if len(h) == 0 {
		return 1
	}
	return h[len(h)-1].Int64("revision") + 1
}

// named returns the revision with a name, or nil.
func (h history) named(name string) object.Object {
	if i := slices.IndexFunc(h, func(r object.Object) bool { return r.Name() == name }); i >= 0 {
		return h[i]
	}
	return nil
}

// snapshot is what a revision keeps of a workload: the strategic merge patch that restores its template.
func snapshot(template map[string]any) map[string]any {
	kept := object.Object(template).Copy()
	kept["$patch"] = "replace"
	return map[string]any{"spec": map[string]any{"template": map[string]any(kept)}}
}

// templateOf is the template that a revision keeps.
func templateOf(revision object.Object) object.Object {
	template := object.Object(revision.Map("data", "spec", "template")).Copy()
	delete(template, "$patch")
	return template
}

// keeps reports whether a revision keeps what a snapshot does.
func keeps(revision object.Object, data map[string]any) bool {
	return string(object.JSON(revision["data"])) == string(object.JSON(data))
}

// newRevision returns a revision of a workload that has yet to be made. A label of it has the hash of what it keeps.
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

// renumber gives a revision another number.
func renumber(api *controller.Client, revision object.Object, number int64) (object.Object, *status.Status) {
	changed := revision.Copy()
	changed["revision"] = number
	return api.Update(controllerRevisions, "", changed)
}

// hashOfData is the hash in the names of revisions of StatefulSets: FNV-1 of what they keep and of how many names were
// taken (history.HashControllerRevision).
func hashOfData(data map[string]any, collisions int64) string {
	h := fnv.New32()
	h.Write(object.JSON(data))
	h.Write([]byte(strconv.FormatInt(collisions, 10)))
	return safe(h.Sum32())
}

// safe prints a hash in characters that make no words (rand.SafeEncodeString).
func safe(sum uint32) string {
	text := []byte(strconv.FormatUint(uint64(sum), 10))
	for i, c := range text {
		text[i] = safeCharacters[int(c)%len(safeCharacters)]
	}
	return string(text)
}

// revisionName is the name of a revision of a StatefulSet; long names of sets are cut.
func revisionName(set, hash string) string { return set[:min(len(set), 223)] + "-" + hash }
