package main

import (
	"bytes"
	"compress/gzip"
	"maps"
	"os"
	"reflect"
	"slices"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/sim/schema"
)

// swagger is a Go type that provides descriptions by JSON field name.
type swagger interface{ SwaggerDoc() map[string]string }

// moreDocs are further types whose descriptions the server uses for columns, in addition to the served kinds, their specs and
// their statuses. The recorded tables of 1.36 only contain descriptions from the served versions.
var moreDocs = []swagger{
	metav1.ObjectMeta{}, metav1.Status{},
	corev1.NodeSystemInfo{},  // nodes: Version, OS-Image, Kernel-Version, Container-Runtime
	corev1.ObjectReference{}, // events: Subobject
	autoscalingv1.ScaleSpec{}, autoscalingv1.ScaleStatus{},
	flowcontrolv1.PriorityLevelConfigurationReference{}, // flowschemas: PriorityLevel
	flowcontrolv1.LimitedPriorityLevelConfiguration{}, flowcontrolv1.QueuingConfiguration{},
	resourcev1.ResourcePool{},          // resourceslices: Pool
	storagev1.VolumeAttachmentSource{}, // volumeattachments: PV
}

// docsOf returns the descriptions for Table columns by definition and field, including those of the types in more.
func docsOf(from *walk, s *served, more []swagger) map[string]map[string]string {
	texts := map[string]map[string]string{}
	add := func(d swagger) {
		fields := maps.Clone(d.SwaggerDoc())
		delete(fields, "") // the type's own description
		texts[definitionName(reflect.TypeOf(d))] = fields
	}
	for _, d := range more {
		add(d)
	}
	for _, name := range servedStructs(from, s) {
		if d, ok := reflect.Zero(from.goTypes[name]).Interface().(swagger); ok {
			add(d)
		}
	}
	return texts
}

// servedStructs returns the definition names of the served kinds, their specs and their statuses.
func servedStructs(from *walk, s *served) []string {
	var out []string
	for _, r := range s.resources {
		t := from.kinds[r.GVK]
		out = append(out, t.Name)
		for _, f := range t.Fields {
			if (f.Name == "spec" || f.Name == "status") && f.Type.Kind == schema.Struct {
				out = append(out, f.Type.Name)
			}
		}
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// writePacked compresses raw with gzip and writes it. The gzip header contains no name and no time.
func writePacked(path string, raw []byte) error {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(raw); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}
