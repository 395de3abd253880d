package bench

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// BenchmarkPatch changes a label of a pod, by a PUT and by patches of each type.
func BenchmarkPatch(b *testing.B) {
	b.Run("PUT", func(b *testing.B) { update.of(b, targets[0]) })
	for _, x := range []struct {
		name, text string
		kind       types.PatchType
	}{
		{"JSON", `[{"op":"replace","path":"/metadata/labels/version","value":"v%d"}]`, types.JSONPatchType},
		{"merge", `{"metadata":{"labels":{"version":"v%d"}}}`, types.MergePatchType},
		{"strategic", `{"metadata":{"labels":{"version":"v%d"}}}`, types.StrategicMergePatchType},
	} {
		b.Run(x.name, func(b *testing.B) {
			b.ReportAllocs()
			client := fill(b, typed{clientOf(kubesim(b), json)}, 1).(typed).CoreV1().Pods("default")
			for n := 0; b.Loop(); n++ {
				if _, err := client.Patch(b.Context(), "pod-0", x.kind, fmt.Appendf(nil, x.text, n), metav1.PatchOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
