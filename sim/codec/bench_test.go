package codec

import (
	"testing"

	"github.com/kubesim/kubesim/sim/schema"
)

// podJSON is a pod in the form that a server returns, without managedFields.
const podJSON = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-7d4b9c6f5-x2x7q","generateName":"web-7d4b9c6f5-","namespace":"default","uid":"0b6f6a3c-6b1d-4b8e-9a55-0c6d1e8f2a11","resourceVersion":"1042","generation":1,"creationTimestamp":"2026-01-02T03:04:05Z","labels":{"app":"web","pod-template-hash":"7d4b9c6f5"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-7d4b9c6f5","uid":"6f0c1d53-9f63-4e0d-a7c0-2f0c7e0a9f5b","controller":true,"blockOwnerDeletion":true}]},"spec":{"volumes":[{"name":"data","configMap":{"name":"web","defaultMode":420}}],"containers":[{"name":"web","image":"nginx:1.27","ports":[{"name":"http","containerPort":80,"protocol":"TCP"}],"env":[{"name":"A","value":"1"},{"name":"B","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}}],"resources":{"limits":{"cpu":"500m","memory":"128Mi"},"requests":{"cpu":"250m","memory":"64Mi"}},"volumeMounts":[{"name":"data","mountPath":"/etc/web"}],"readinessProbe":{"httpGet":{"path":"/","port":"http","scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","securityContext":{},"schedulerName":"default-scheduler"},"status":{"phase":"Pending","qosClass":"Burstable"}}`

func typeOf(tb testing.TB, group, version, kind string) *schema.Type {
	tb.Helper()
	set, err := schema.Load(schema.Default)
	if err != nil {
		tb.Fatal(err)
	}
	t := set.Kind(schema.GVK{Group: group, Version: version, Kind: kind})
	if t == nil {
		tb.Fatal("no kind " + kind)
	}
	return t
}

func BenchmarkDecodePod(b *testing.B) {
	pod, data := typeOf(b, "", "v1", "Pod"), []byte(podJSON)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := DecodeJSON(data, pod); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendPod(b *testing.B) {
	pod := typeOf(b, "", "v1", "Pod")
	obj, _, err := DecodeJSON([]byte(podJSON), pod)
	if err != nil {
		b.Fatal(err)
	}
	var buf []byte
	b.SetBytes(int64(len(podJSON)))
	b.ReportAllocs()
	for b.Loop() {
		buf = Append(buf[:0], obj, pod)
	}
}

func BenchmarkDecoderObject(b *testing.B) {
	set, err := schema.Load(schema.Default)
	if err != nil {
		b.Fatal(err)
	}
	d := &Decoder{Schema: set}
	data := []byte(podJSON)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, _, s := d.Object(data, "application/json", schema.GVK{Version: "v1", Kind: "Pod"}, Strict); s != nil {
			b.Fatal(s)
		}
	}
}
