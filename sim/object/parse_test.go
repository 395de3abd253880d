package object

import "testing"

var pod = []byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"default","uid":"0b1fbf21-0000-4000-8000-000000000000","resourceVersion":"4321","creationTimestamp":"2026-01-01T00:00:00Z","labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"nginx:1","ports":[{"containerPort":80,"protocol":"TCP"}],"resources":{"limits":{"cpu":"1"}},"terminationMessagePath":"/dev/termination-log","imagePullPolicy":"IfNotPresent"}],"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst"},"status":{"phase":"Pending"}}`)

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(pod); err != nil {
			b.Fatal(err)
		}
	}
}
