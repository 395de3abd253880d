package bench

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

var table = flag.Bool("table", false, "measure, and print a table")

// TestTable prints the time of each operation, and the multiple of the floor's time. It takes two minutes.
func TestTable(t *testing.T) {
	if !*table {
		t.Skip("it measures: go test -run '^TestTable$' -v ./bench -table")
	}
	fmt.Printf("%-16s", "")
	for _, t := range targets {
		fmt.Printf("%22s", t.name)
	}
	fmt.Println()
	for _, m := range measurements {
		times := map[string]time.Duration{}
		for _, t := range targets {
			if !slices.Contains(m.except, t.name) {
				result := testing.Benchmark(func(b *testing.B) { m.of(b, t) })
				times[t.name] = time.Duration(result.NsPerOp())
			}
		}
		fmt.Print(row(m.name, times))
	}
}

// row returns the times of one measurement.
func row(name string, times map[string]time.Duration) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%-16s", name)
	for _, t := range targets {
		floor := times[t.floor]
		switch d := times[t.name]; {
		case d == 0:
			fmt.Fprintf(&out, "%22s", "—")
		case floor == 0:
			fmt.Fprintf(&out, "%22s", fmt.Sprintf("%.3g ms       ", float64(d)/1e6))
		default:
			fmt.Fprintf(&out, "%22s", fmt.Sprintf("%.3g ms %5.2f×", float64(d)/1e6, float64(d)/float64(floor)))
		}
	}
	return out.String() + "\n"
}
