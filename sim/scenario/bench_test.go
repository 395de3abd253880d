package scenario

import "testing"

// BenchmarkDo is what an operation costs: a log of 100 creates and reads with a watch open, the World included.
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

// BenchmarkNew is what a World costs.
func BenchmarkNew(b *testing.B) {
	for range b.N {
		if _, err := New(Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
