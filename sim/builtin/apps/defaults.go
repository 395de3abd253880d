package apps

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// templateGeneration is the annotation in which apps/v1 keeps a field that older versions of DaemonSet had in the spec.
const templateGeneration = "deprecated.daemonset.template.generation"

const rollbackTo = "deprecated.deployment.rollback.to"

func defaultDeployment(obj object.Object) {
	if text, ok := obj.Annotations()[rollbackTo]; ok && text == "" {
		obj.Remove("metadata", "annotations", rollbackTo)
	}
	obj.SetDefault(map[string]any{}, "spec")
	spec := obj.At("spec")
	spec.SetDefault(int64(1), "replicas")
	if spec.String("strategy", "type") == "" {
		spec.Set("RollingUpdate", "strategy", "type")
	}
	if spec.String("strategy", "type") == "RollingUpdate" {
		spec.SetDefault("25%", "strategy", "rollingUpdate", "maxUnavailable")
		spec.SetDefault("25%", "strategy", "rollingUpdate", "maxSurge")
	}
	spec.SetDefault(int64(10), "revisionHistoryLimit")
	spec.SetDefault(int64(600), "progressDeadlineSeconds")
	podspec.DefaultTemplateOf(obj)
}

func defaultDaemonSet(obj object.Object) {
	obj.SetDefault(map[string]any{}, "spec")
	spec := obj.At("spec")
	if spec.String("updateStrategy", "type") == "" {
		spec.Set("RollingUpdate", "updateStrategy", "type")
	}
	if spec.String("updateStrategy", "type") == "RollingUpdate" {
		spec.SetDefault(int64(1), "updateStrategy", "rollingUpdate", "maxUnavailable")
	}
	if rolling := spec.At("updateStrategy", "rollingUpdate"); rolling != nil { // which has numbers in memory
		rolling.SetDefault(int64(0), "maxUnavailable")
		rolling.SetDefault(int64(0), "maxSurge")
	}
	spec.SetDefault(int64(10), "revisionHistoryLimit")
	podspec.DefaultTemplateOf(obj)
	obj.SetDefault("0", "metadata", "annotations", templateGeneration)
}

func defaultStatefulSet(obj object.Object) {
	obj.SetDefault(map[string]any{}, "spec")
	spec := obj.At("spec")
	kind.SetEmpty(spec, "podManagementPolicy", "OrderedReady")
	if spec.String("updateStrategy", "type") == "" {
		spec.Set("RollingUpdate", "updateStrategy", "type")
		spec.SetDefault(map[string]any{}, "updateStrategy", "rollingUpdate")
	}
	if rolling := spec.At("updateStrategy", "rollingUpdate"); rolling != nil && spec.String("updateStrategy", "type") == "RollingUpdate" {
		rolling.SetDefault(int64(0), "partition")
	}
	for _, when := range []string{"whenDeleted", "whenScaled"} {
		if spec.String("persistentVolumeClaimRetentionPolicy", when) == "" {
			spec.Set("Retain", "persistentVolumeClaimRetentionPolicy", when)
		}
	}
	spec.SetDefault(int64(1), "replicas")
	spec.SetDefault(int64(10), "revisionHistoryLimit")
	for _, claim := range spec.Objects("volumeClaimTemplates") {
		claim["apiVersion"], claim["kind"] = "v1", "PersistentVolumeClaim"
		claim.SetDefault("Filesystem", "spec", "volumeMode")
		claim.SetDefault("Pending", "status", "phase")
		podspec.RoundResources(claim.At("spec", "resources"))
		podspec.RoundLists(claim.At("status"), "capacity", "allocatedResources")
	}
	podspec.DefaultTemplateOf(obj)
}

// prepareDeploymentUpdate keeps the labels of a Deployment whose status is written; other kinds let them change.
func prepareDeploymentUpdate(ctx *resource.Context, obj, old object.Object) {
	if ctx.Subresource == "status" {
		kind.KeepOld(obj.At("metadata"), old.At("metadata"), "labels")
		keepInner(obj, old, rollbackTo)
	}
}

// keepInner puts an annotation back that is a field of the spec in memory.
func keepInner(obj, old object.Object, name string) {
	if value, ok := old.Get("metadata", "annotations", name); ok {
		obj.Set(value, "metadata", "annotations", name)
		return
	}
	obj.Remove("metadata", "annotations", name)
	if len(obj.Annotations()) == 0 {
		obj.Remove("metadata", "annotations")
	}
}

// readTemplateGeneration reads templateGeneration, which is a number in memory.
func readTemplateGeneration(obj object.Object) (object.Object, error) {
	return obj, readNumber(obj, templateGeneration)
}

// readRollbackTo reads an annotation in which apps/v1 keeps what older versions of Deployment had in the spec.
func readRollbackTo(obj object.Object) (object.Object, error) {
	text := obj.String("metadata", "annotations", rollbackTo)
	if err := readNumber(obj, rollbackTo); err != nil {
		return nil, fmt.Errorf("failed to parse annotation[%s]=%s as int64: %w", rollbackTo, text, err)
	}
	return obj, nil
}

// noReplicas is Strategy.Blank of kinds whose replicas are a plain number in memory.
func noReplicas(obj object.Object) { obj.Set(int64(0), "spec", "replicas") }

// readNumber prints an annotation that is a number as numbers are printed.
func readNumber(obj object.Object, name string) error {
	text, ok := obj.Annotations()[name]
	if !ok {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil {
		obj.Set(strconv.FormatInt(n, 10), "metadata", "annotations", name)
	}
	return err
}

// generationOfTemplate returns the templateGeneration of a DaemonSet.
func generationOfTemplate(obj object.Object) int64 {
	n, _ := strconv.ParseInt(obj.String("metadata", "annotations", templateGeneration), 10, 64)
	return n
}

func setGenerationOfTemplate(obj object.Object, n int64) {
	obj.Set(strconv.FormatInt(n, 10), "metadata", "annotations", templateGeneration)
}

func prepareDaemonSet(ctx *resource.Context, obj object.Object) {
	setGenerationOfTemplate(obj, max(generationOfTemplate(obj), 1))
}

// prepareDaemonSetUpdate counts changes of the template; clients cannot set the count.
func prepareDaemonSetUpdate(ctx *resource.Context, obj, old object.Object) {
	n := generationOfTemplate(old)
	if ctx.Subresource != "status" && !gotext.Same("PodTemplateSpec", obj.Map("spec", "template"), old.Map("spec", "template")) {
		n++
	}
	setGenerationOfTemplate(obj, n)
}

// cellController names the owner that controls the object: statefulset.apps/web.
func cellController(obj object.Object) string {
	for _, owner := range obj.Objects("metadata", "ownerReferences") {
		if !owner.True("controller") {
			continue
		}
		name := owner.String("kind")
		if group, _, ok := strings.Cut(owner.String("apiVersion"), "/"); ok && group != "" {
			name += "." + group
		}
		return strings.ToLower(name) + "/" + owner.String("name")
	}
	return table.None
}
