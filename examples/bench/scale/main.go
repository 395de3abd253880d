// Command scale measures clusters of many nodes and pods. Each size runs in a process of its own, so that the processor time and the
// peak of the memory are those of one cluster.
//
//	sizes ─▶ one process each: start, fill, rest ─ figures as JSON ─▶ the table, as Markdown
//
// Usage, in the folder examples:
//
//	go run ./bench/scale                              all sizes of the table
//	go run ./bench/scale -write bench/README.md       the same, and put the table into this file
//	go run ./bench/scale 100x1000 1000x10000          these nodes x pods
//	go run ./bench/scale -cpuprofile cpu.out 100x5000 one size, in this process
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

// sizes are those of the table: nodes x pods.
var sizes = []string{"100x5000", "1000x10000", "1000x100000", "5000x150000"}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// run measures the sizes that the arguments name, and prints the table.
func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("scale", flag.ContinueOnError)
	var p profiles
	flags.StringVar(&p.cpu, "cpuprofile", "", "measure one size in this process, and write a CPU profile of its filling to this file")
	flags.StringVar(&p.idle, "idleprofile", "", "the same, of a day without a request")
	flags.StringVar(&p.start, "startprofile", "", "the same, of its start")
	flags.StringVar(&p.expire, "expireprofile", "", "the same, of the hour in which the events expire")
	flags.StringVar(&p.heap, "memprofile", "", "the same, of the heap when it is full")
	file := flags.String("write", "", "put the table into this file, between its lines \"begin\" and \"end\"")
	child := flags.Bool("child", false, "measure one size in this process, and print its figures as JSON")
	if err := flags.Parse(args); err != nil {
		return err
	}
	names := flags.Args()
	if len(names) == 0 {
		names = sizes
	}
	if *child || p != (profiles{}) {
		f, err := measure(ctx, names[0], p)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(f)
	}
	text, err := measureAll(ctx, names)
	if err == nil && *file != "" {
		err = write(*file, text)
	}
	return err
}

// measureAll measures sizes one after another. It prints the table row by row, and returns it.
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

// apart measures a size in another process.
func apart(ctx context.Context, name string) (f figures, err error) {
	c := exec.CommandContext(ctx, os.Args[0], "-child", name)
	c.Stderr = os.Stderr
	text, err := c.Output()
	if err != nil {
		return f, err
	}
	return f, json.Unmarshal(text, &f)
}
