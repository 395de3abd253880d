package crds

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkInstall measures the time to install all CRDs of a project on a new server. It reports the time as ms/CRD, the slowest
// CRD as ms/slowest, and the size of the published documents as KB/CRD.
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

// BenchmarkSample measures the time to create a sample of a project, averaged over all accepted samples. It does not count the
// first object of each kind, for which a server has to prepare.
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

// perCall returns the time of one of n calls per iteration, in milliseconds.
func perCall(b *testing.B, n int) float64 {
	return float64(b.Elapsed()) / 1e6 / float64(b.N) / float64(n)
}
