package crds

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkInstall is the time to install all CRDs of a project on a new server: ms/CRD, the slowest one as ms/slowest, and the size of the
// published documents as KB/CRD.
func BenchmarkInstall(b *testing.B) {
	for _, p := range projects {
		docs := definitions(b, p)
		b.Run(p.name, func(b *testing.B) {
			var slowest time.Duration
			bytes := 0
			for b.Loop() {
				c := open(b)
				bytes = 0
				for _, d := range docs {
					begin := time.Now()
					if err := c.define(context.Background(), d); err != nil {
						b.Fatalf("%s: %v", d.where, err)
					}
					slowest = max(slowest, time.Since(begin))
					data, err := d.object.MarshalJSON()
					if err != nil {
						b.Fatal(err)
					}
					bytes += len(data)
				}
				c.srv.Close()
			}
			b.ReportMetric(perCall(b, len(docs)), "ms/CRD")
			b.ReportMetric(float64(slowest)/1e6, "ms/slowest")
			b.ReportMetric(float64(bytes)/1e3/float64(len(docs)), "KB/CRD")
		})
	}
}

// BenchmarkSample is the time to create one sample of a project, over all of them that its CRDs accept. The first
// object of each kind, for which a server has to make ready, is not counted.
func BenchmarkSample(b *testing.B) {
	for _, p := range projects {
		b.Run(p.name, func(b *testing.B) {
			c := install(b, p)
			var docs []document
			for _, d := range documents(b, p, p.samples) {
				if _, ours := c.kinds[d.object.GroupVersionKind()]; ours && p.refused[d.where] == "" {
					docs = append(docs, d)
				}
			}
			try := func() {
				for _, d := range docs {
					if _, err := c.create(context.Background(), d.object,
						metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
						b.Fatalf("%s: %v", d.where, err)
					}
				}
			}
			try()
			for b.Loop() {
				try()
			}
			b.ReportMetric(perCall(b, len(docs)), "ms/object")
		})
	}
}

// perCall returns the milliseconds of one of n calls in an iteration.
func perCall(b *testing.B, n int) float64 {
	return float64(b.Elapsed()) / 1e6 / float64(b.N) / float64(n)
}
