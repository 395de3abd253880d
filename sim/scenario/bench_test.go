package scenario

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkDo measures a log of 100 creates and reads with an open watch, including the World.
func BenchmarkDo(b *testing.B) {
	var log []Op
	for _, line := range []string{"watch cm --rv 0", "create cm a", "get cm a", "patch cm a -p '{\"data\":{\"k\":\"v\"}}'", "delete cm a"} {
		op, err := Parse(line)
		if err != nil {
			b.Fatal(err)
		}
		log = append(log, op)
	}
	for range b.N {
		w, err := New(Options{})
		if err != nil {
			b.Fatal(err)
		}
		for i := range 101 {
			op := log[0]
			if i > 0 {
				op = log[1+i%4]
			}
			if _, err := w.Do(op); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/101, "µs/op")
}

// BenchmarkNew measures the creation of a World.
func BenchmarkNew(b *testing.B) {
	for range b.N {
		if _, err := New(Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// tenMinutes is a scenario with a controller that keeps one pod for each of ten ConfigMaps for ten minutes, while its
// server lags.
const tenMinutes = `# A controller and two servers.
replicas 2
route op 2
controller op -f rules.yaml
%ssettle
tick 1m
lag 2
delete pods a3 --grace 0
settle
tick 3m
resume 2
delete pods a4 --grace 0
settle
tick 6m
never count pods > 10
eventually within 5m count pods == 10

-- rules.yaml --
watch: [pods]
rules:
- name: make
  for: configmaps
  when: pods/{{name}} absent
  do: create -f pod.yaml
-- pod.yaml --
apiVersion: v1
kind: Pod
metadata: {name: "{{name}}"}
spec: {containers: [{name: c, image: i}]}
`

// BenchmarkTenMinutes runs ten minutes of two servers and a controller under the random faults of consecutive seeds.
func BenchmarkTenMinutes(b *testing.B) {
	var creates strings.Builder
	for i := range 10 {
		fmt.Fprintf(&creates, "create configmaps a%d\n", i)
	}
	f, err := ParseFile(fmt.Appendf(nil, tenMinutes, creates.String()))
	if err != nil {
		b.Fatal(err)
	}
	if out, err := Run(f, RunOptions{}); err != nil || out.Failure != nil {
		b.Fatal(err, out.Failure)
	}
	sweep := NewSweep(f)
	b.ResetTimer()
	for i := range b.N {
		if out, err := sweep.Run(uint64(i + 1)); err != nil || out.Failure != nil {
			b.Fatalf("seed %d: %v %v", i+1, err, out.Failure)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/scenario")
	b.ReportMetric(3600*float64(b.N)/b.Elapsed().Seconds(), "seeds/h")
}
