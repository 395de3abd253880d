package core

import (
	"testing"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
)

// alpha are gates that are off by default. No recording covers the fields that they allow.
var alpha = map[string]bool{"AtomicWriteVolumeUserFields": true, "CSIVolumeHealth": true, "ContainerStopSignals": true, "EmptyDirVolumeMode": true,
	"EvictionRequestAPI": true, "GRPCContainerProbeTLS": true, "H2CContainerProbe": true, "VolumeBindMountOptions": true}

// TestPodsOfAlphaGates compares with responses of a kube-apiserver v1.37.2 with the gates, one rule per case.
func TestPodsOfAlphaGates(t *testing.T) {
	t.Parallel()
	rules := kindtest.On("1.37", alpha, Kinds)
	rules.Storage = "pods"
	rules.Base = `{"metadata":{"name":"p","namespace":"ns"},"spec":{"containers":[{"name":"c","image":"i"}]},"status":{"phase":"Pending","qosClass":"BestEffort"}}`
	container := func(fields string) string { return `{"spec":{"containers":[{"name":"c","image":"i",` + fields + `}]}}` }
	volume := func(source string) string { return `{"spec":{"volumes":[{"name":"v",` + source + `}]}}` }
	rules.Run(t, []kindtest.Case{
		{Name: "reserved priority", Patch: `{"spec":{"evictionResponders":[{"name":"a.example.com/b","priority":1}]}}`,
			Want: "spec.evictionResponders[0].priority: Invalid value: 1: priorities 0-999 are reserved for responders with *.k8s.io suffix"},
		{Name: "reserved domain", Patch: `{"spec":{"evictionResponders":[{"name":"k8s.io/b","priority":5000}]}}`,
			Want: `spec.evictionResponders[0].name: Invalid value: "k8s.io/b": domain names *.k8s.io, *.kubernetes.io are reserved`},
		{Name: "no domain", Patch: `{"spec":{"evictionResponders":[{"name":"bad","priority":5000}]}}`,
			Want: `spec.evictionResponders[0].name: Invalid value: "bad": must include a prefix (e.g. 'example.com/key')`},
		{Name: "signal without system", Patch: container(`"lifecycle":{"stopSignal":"SIGTERM"}`),
			Want: "spec.containers[0].lifecycle.stopSignal: Forbidden: may not be set for containers with empty `spec.os.name`"},
		{Name: "signal of Windows", Patch: `{"spec":{"os":{"name":"windows"},"containers":[{"name":"c","image":"i","lifecycle":{"stopSignal":"SIGHUP"}}]}}`,
			Want: `spec.containers[0].lifecycle.stopSignal: Unsupported value: "SIGHUP": supported values: "SIGKILL", "SIGTERM"`},
		{Name: "mode of gRPC", Patch: container(`"livenessProbe":{"grpc":{"port":1,"mode":"X"}}`),
			Want: `spec.containers[0].livenessProbe.grpc.mode: Unsupported value: "X": supported values: "Plaintext", "TLS"`},
		{Name: "HTTP2 over TLS", Patch: container(`"readinessProbe":{"httpGet":{"path":"/","port":80,"protocol":"HTTP2","scheme":"HTTPS"}}`),
			Want: `spec.containers[0].readinessProbe.httpGet.protocol: Invalid value: "HTTP2": is only supported with HTTP (H2C)`},
		{Name: "mode of a directory", Patch: volume(`"emptyDir":{"mode":1024}`),
			Want: `spec.volumes[0].emptyDir.mode: Invalid value: 1024: must be a number between 0 and 01777 (octal), both inclusive`},
		{Name: "user of a file", Patch: volume(`"secret":{"secretName":"x","defaultUser":-5}`),
			Want: "spec.volumes[0].secret.defaultUser: Invalid value: -5: must be between 0 and 2147483647, inclusive"},
		{Name: "mount options", Patch: `{"spec":{"volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"v","mountPath":"/a","bindMountOptions":["nodev","nodev"]}]}]}}`,
			Want: `spec.containers[0].volumeMounts[0].bindMountOptions[1]: Duplicate value: "nodev"`},
		{Name: "health", Sub: "status", Old: `{}`, Patch: `{"status":{"volumeHealth":[{"name":"w","healthConditions":[{"status":"X","reason":"A"}]}]}}`,
			Want: `status.volumeHealth[0].name: Not found: "w"` + "\n" +
				`status.volumeHealth[0].healthConditions[0].status: Unsupported value: "X": supported values: "DataLoss", "Degraded", "Inaccessible"`},
	})
}

// TestComparingTolerations checks that tolerations may compare numbers if the gate TaintTolerationComparisonOperators is
// on.
func TestComparingTolerations(t *testing.T) {
	t.Parallel()
	for on, want := range map[bool]string{true: "", false: `spec.tolerations[0].operator: Unsupported value: "Gt": supported values: "Equal", "Exists", "Lt", "Gt"`} {
		rules := kindtest.On("1.36", map[string]bool{"TaintTolerationComparisonOperators": on}, Kinds)
		rules.Storage = "pods"
		rules.Base = `{"metadata":{"name":"p","namespace":"ns"},"spec":{"containers":[{"name":"c","image":"i"}]},"status":{"phase":"Pending","qosClass":"BestEffort"}}`
		tolerate := func(value string) string {
			return `{"spec":{"tolerations":[{"key":"k","operator":"Gt","value":"` + value + `","effect":"NoSchedule"}]}}`
		}
		cases := []kindtest.Case{{Name: "greater", Patch: tolerate("-5"), Want: want}}
		if on {
			cases = append(cases, kindtest.Case{Name: "no number", Patch: tolerate("05"),
				Want: `spec.tolerations[0].value: Invalid value: "05": must be a valid decimal integer in canonical form`})
		}
		rules.Run(t, cases)
	}
}
