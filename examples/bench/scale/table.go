package main

import (
	"fmt"
	"math"
	"os"
	"strings"
	"time"
)

// header is the header of the Markdown table.
var header = "| nodes | pods | CPU until the nodes are ready | CPU until the pods are ready | real time | CPU per pod | pods per CPU second " +
	"| peak RSS | heap per pod | size of a pod | CPU of the hour in which events expire | of an idle day after it | hash |\n" +
	strings.Repeat("|---", 13) + "|\n"

// row returns the table row of a size.
func row(f figures) string {
	pods := float64(f.Pods)
	return fmt.Sprintf("| %d | %d | %s | %s | %s | %.2f ms | %.0f | %d MB | %.1f kB | %.1f kB | %s | %s | %s |\n", f.Nodes, f.Pods, seconds(f.Start),
		seconds(f.Fill), seconds(f.Wall), f.Fill.Seconds()*1e3/pods, pods/f.Fill.Seconds(), f.RSS/1e6, float64(f.Heap)/pods/1e3,
		float64(f.Stored)/pods/1e3, seconds(f.Expire), seconds(f.Idle), f.Hash)
}

// growth returns a sentence about the growth of the processor time, or "" if there are too few sizes for a statement.
func growth(all []figures) string {
	const sizesMin = 4 // two exponents and a factor fit three sizes exactly
	nodes, pods := exponents(all)
	if len(all) < sizesMin || math.IsNaN(nodes) {
		return ""
	}
	return fmt.Sprintf("\nCPU until the pods are ready grows with the pods to the power of %.2f, and with the nodes to the power of %.2f.\n", pods, nodes)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

// exponents fits the processor time of filling to powers of the numbers of nodes and pods, and returns the exponents. It uses
// least squares of the logarithms. The exponents are 0 and 1 if each pod costs the same.
func exponents(all []figures) (nodes, pods float64) {
	var n, p, t float64 // means
	for _, f := range all {
		n += math.Log(float64(f.Nodes)) / float64(len(all))
		p += math.Log(float64(f.Pods)) / float64(len(all))
		t += math.Log(f.Fill.Seconds()) / float64(len(all))
	}
	var nn, np, pp, nt, pt float64
	for _, f := range all {
		a, b, c := math.Log(float64(f.Nodes))-n, math.Log(float64(f.Pods))-p, math.Log(f.Fill.Seconds())-t
		nn, np, pp, nt, pt = nn+a*a, np+a*b, pp+b*b, nt+a*c, pt+b*c
	}
	if of := nn*pp - np*np; of > 1e-9 {
		return (nt*pp - pt*np) / of, (pt*nn - nt*np) / of
	}
	return math.NaN(), math.NaN()
}

// write replaces the table in a file between the comment lines that name the command.
func write(name, command, table string) error {
	begin, end := "<!-- begin: "+command+" -->\n", "<!-- end: "+command+" -->\n"
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("%s has no lines %q and %q: they enclose the table", name, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return os.WriteFile(name, []byte(before+begin+"\n"+table+"\n"+end+after), 0o644)
}
