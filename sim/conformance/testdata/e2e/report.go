package main

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// passes lists the tests that pass on a real server each time, and passesOwn the tests that pass with kubesim's own controllers, one
// name per line. They are written by -target real -record and by -target own -record.
var (
	//go:embed passes.txt
	passes string
	//go:embed passes-own.txt
	passesOwn string
)

// known are the complaints of the controllers about a real server. Written by -target real -record.
//
//go:embed complaints.txt
var known string

// report prints the results of the tests. It prints results that are worse than with a real server and returns an error for them.
func report(f flags, results map[string]string, complaints map[string]int) error {
	fmt.Print(summary(results))
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(results)) {
		lines = append(lines, results[name]+"\t"+name)
	}
	if err := write(f.out+"/results.txt", lines); err != nil {
		return err
	}
	if err := write(f.out+"/complaints.txt", slices.Sorted(maps.Keys(complaints))); err != nil {
		return err
	}
	var unexplained []string
	if f.target == "own" && f.focus == "" {
		var err error
		if unexplained, err = reportConformance(results); err != nil {
			return err
		}
	}
	if f.record && f.target == "own" {
		return write("passes-own.txt", passed(results, passesOwn))
	}
	if f.record {
		return record(results, complaints)
	}
	expected := passes
	if f.target == "own" {
		expected = passesOwn
	}
	worse := len(unexplained)
	for _, name := range unexplained {
		fmt.Printf("not run, and neither cannot-own.txt nor conformance-own.txt says why: %s\n", name)
	}
	for _, name := range slices.Sorted(maps.Keys(results)) {
		if f.target == "own" && results[name] != "passed" && !strings.Contains("\n"+passesOwn, "\n"+name+"\n") {
			fmt.Printf("%s, and nobody says why: %s\n", results[name], name)
			worse++
		}
	}
	for name := range strings.Lines(expected) {
		name = strings.TrimSuffix(name, "\n")
		if state, ran := results[name]; ran && state != "passed" || !ran && f.focus == "" {
			fmt.Printf("%s now, has passed before: %s\n", or(state, "not run"), name)
			worse++
		}
	}
	for _, line := range slices.Sorted(maps.Keys(complaints)) {
		switch n := complaints[line]; {
		case strings.Contains("\n"+known, "\n"+line+"\n"):
		case n >= loop || strings.Contains(line, "User NAME cannot"):
			fmt.Printf("%d times, and nobody says so of a real server: %s\n", n, line)
			worse++
		default:
			fmt.Printf("note: %d times, and nobody has said so of a real server: %s\n", n, line)
		}
	}
	if worse > 0 {
		return fmt.Errorf("%d differences; logs and results are in %s", worse, f.out)
	}
	return nil
}

// passed returns the tests that passed here and before, by name. A first list is empty.
func passed(results map[string]string, before string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(results)) {
		if results[name] == "passed" && (before == "" || strings.Contains("\n"+before, "\n"+name+"\n")) {
			names = append(names, name)
		}
	}
	return names
}

// record keeps the tests that also passed in this run, and adds new complaints to the known ones. The lists of a first run are empty.
func record(results map[string]string, complaints map[string]int) error {
	all := append(slices.Collect(maps.Keys(complaints)), strings.Split(strings.TrimSpace(known), "\n")...)
	slices.Sort(all)
	return errors.Join(write("passes.txt", passed(results, passes)), write("complaints.txt", slices.Compact(all)))
}

func write(file string, lines []string) error {
	return os.WriteFile(file, []byte(strings.TrimLeft(strings.Join(lines, "\n")+"\n", "\n")), 0o644)
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// header matches klog's header of a message: level, date, time, process, file and line; message and error follow.
var header = regexp.MustCompile(`^([WEF])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ ([a-z0-9_.]+):\d+\] ("(?:[^"\\]|\\.)*"(?: err="(?:[^"\\]|\\.)*")?|.*)`)

// varying are the parts of a message that differ from run to run, and their replacements.
var varying = []struct {
	part *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`(&|\w+\.)?\w*\{.*`), "…"}, // a printed struct
	{regexp.MustCompile(`\\"[^"]*"`), "NAME"},
	{regexp.MustCompile(`((?:in namespace|namespace:) )[^ ,]+`), "${1}NAME"},
	{regexp.MustCompile(`\S*\d\S*`), "N"},
	{regexp.MustCompile(`\b(\S+ )?[a-z0-9-]+/[a-z0-9-]+\b`), "NAME"},
}

// loop is the number of equal complaints that indicates a retry loop. Fewer may be chance, such as conflicts of two writers.
const loop = 20

// complaints returns the warnings and errors in the logs of the controllers, with their counts.
func (c *cluster) complaints() map[string]int {
	found := map[string]int{}
	for _, name := range []string{"kube-controller-manager", "kube-scheduler"} {
		text, err := os.ReadFile(c.file(name + ".log"))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			m := header.FindStringSubmatch(strings.TrimSpace(line))
			if m == nil {
				continue
			}
			message := strings.ReplaceAll(m[3], ".k8s.io", "")
			for _, v := range varying {
				message = v.part.ReplaceAllString(message, v.name)
			}
			found[name+" "+m[1]+" "+m[2]+" "+message]++
		}
	}
	return found
}
