// Command scale measures clusters with many nodes and pods. Each size runs in a separate process, so that processor time and peak
// memory are those of a single cluster.
//
//	sizes ─▶ one process each: start, fill, rest ─ figures as JSON ─▶ the table, as Markdown
//
// Usage, in the directory examples:
//
//	go run ./bench/scale                              all sizes of the table
//	go run ./bench/scale -write bench/README.md       the same, and write the table to this file
//	go run ./bench/scale 100x1000 1000x10000          these sizes, nodes x pods
//	go run ./bench/scale -cpuprofile cpu.out 100x5000 one size, in this process
//	go run ./bench/scale -pairs 5 100x5000            one process and two at once, five times
//	go run ./bench/scale -usage DIR 5000x10000        commands of the kubectl in DIR, and of kubesim kubectl
//	go run ./bench/scale -beside DIR 1000x10000       with the kube-controller-manager and kube-scheduler in DIR, against the kubesim in it
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
)

// sizes lists the cluster sizes in the table, as nodes x pods.
var sizes = []string{"100x5000", "1000x10000", "1000x100000", "5000x150000"}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// run measures the sizes in the arguments and prints the table.
func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("scale", flag.ContinueOnError)
	var p profiles
	flags.StringVar(&p.cpu, "cpuprofile", "", "measure one size in this process, and write a CPU profile of its filling to this file")
	flags.StringVar(&p.idle, "idleprofile", "", "the same, of a day without a request")
	flags.StringVar(&p.start, "startprofile", "", "the same, of its start")
	flags.StringVar(&p.expire, "expireprofile", "", "the same, of the hour in which the events expire")
	flags.StringVar(&p.heap, "memprofile", "", "the same, of the heap when it is full")
	file := flags.String("write", "", "put the table into this file, between its lines \"begin\" and \"end\"")
	rounds := flags.Int("pairs", 0, "compare one process with two at once, in so many `rounds`, with one size")
	programs := flags.String("beside", "", "measure one size with the kube-controller-manager and kube-scheduler in this `folder`, against the kubesim in it")
	clients := flags.String("usage", "", "measure commands of the kubectl and the kubesim in this `folder`, with one size")
	child := flags.Bool("child", false, "measure one size in this process, and print its figures as JSON")
	if err := flags.Parse(args); err != nil {
		return err
	}
	names := flags.Args()
	first := func(otherwise string) string { return append(names, otherwise)[0] }
	if *child || p != (profiles{}) {
		f, err := measure(ctx, first(sizes[0]), p)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(f)
	}
	var text, command string
	var err error
	switch {
	case *rounds > 0:
		command = "make scale PAIRS"
		text, err = pairs(ctx, first("100x5000"), *rounds)
	case *programs != "":
		command = "make scale REAL=1"
		text, err = beside(ctx, *programs, first("1000x10000"))
	case *clients != "":
		command = "make scale KUBECTL=1"
		text, err = usage(ctx, *clients, first("5000x10000"))
	default:
		if len(names) == 0 {
			names = sizes
		}
		command = "make scale"
		text, err = measureAll(ctx, names)
	}
	if err == nil && *file != "" {
		err = write(*file, command, text)
	}
	return err
}

// measureAll measures sizes one after another. It prints the table row by row and returns it.
func measureAll(ctx context.Context, names []string) (string, error) {
	var all []figures
	text := ""
	add := func(part string) {
		fmt.Print(part)
		text += part
	}
	add(header)
	for _, name := range names {
		f, err := apart(ctx, name)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, f)
		add(row(f))
	}
	add(growth(all))
	return text, nil
}

// apart measures one size in a separate process.
func apart(ctx context.Context, name string) (f figures, err error) {
	c := exec.CommandContext(ctx, os.Args[0], "-child", name)
	c.Stderr = os.Stderr
	text, err := c.Output()
	if err != nil {
		return f, err
	}
	return f, json.Unmarshal(text, &f)
}
