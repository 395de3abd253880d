package main

import (
	"fmt"
	"strings"
	"time"
)

// table prints figures as a table of Markdown.
func table(all []figures) string {
	var b strings.Builder
	b.WriteString("| nodes | pods | CPU until the nodes are ready | CPU until the pods are ready | wall | per pod | pods per CPU second | peak RSS | heap per pod | of it stored | hour in which events expire | idle day |\n")
	b.WriteString(strings.Repeat("|---", 12) + "|\n")
	for _, f := range all {
		pods := float64(f.Pods)
		fmt.Fprintf(&b, "| %d | %d | %s | %s | %s | %.2f ms | %.0f | %d MB | %.1f kB | %.1f kB | %s | %s |\n", f.Nodes, f.Pods, seconds(f.Start), seconds(f.Fill),
			seconds(f.Wall), f.Fill.Seconds()*1e3/pods, pods/f.Fill.Seconds(), f.RSS/1e6, float64(f.Heap)/pods/1e3, float64(f.Stored)/pods/1e3,
			seconds(f.Expire), seconds(f.Idle))
	}
	return b.String()
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
