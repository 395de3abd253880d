package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// pairs measures the throughput of two processes on two processors, relative to one process. Each round fills one cluster, and
// then two clusters at the same time. Each cluster has a separate process that uses one processor. It returns a table row per
// round, and the medians of two factors: pods per second of real time, which requires an otherwise idle machine, and pods per
// second of processor time on both processors. Both factors are 2 if the processes do not slow each other down.
func pairs(ctx context.Context, name string, rounds int) (string, error) {
	text := "| round | real time, one process | two at once | factor | CPU, one process | each of two | factor |\n" + strings.Repeat("|---", 7) + "|\n"
	var real, used []float64
	for round := range rounds {
		wall, cpu, err := together(ctx, name, 1)
		if err != nil {
			return "", err
		}
		walls, cpus, err := together(ctx, name, 2)
		if err != nil {
			return "", err
		}
		real, used = append(real, 2*wall.Seconds()/walls.Seconds()), append(used, 4*cpu.Seconds()/cpus.Seconds())
		row := fmt.Sprintf("| %d | %s | %s | %.2f | %s | %s | %.2f |\n", round+1, seconds(wall), seconds(walls), real[round], seconds(cpu), seconds(cpus/2), used[round])
		fmt.Print(row)
		text += row
	}
	slices.Sort(real)
	slices.Sort(used)
	end := fmt.Sprintf("\nTwo processes fill clusters of %s %.2f times as fast as one (median); by their processor time %.2f times.\n", name, real[rounds/2], used[rounds/2])
	fmt.Print(end)
	return text + end, nil
}

// together fills n clusters at the same time. It returns the real time until the last of them is full, and their total
// processor time.
func together(ctx context.Context, name string, n int) (wall, cpu time.Duration, err error) {
	children, outputs := make([]*exec.Cmd, n), make([]bytes.Buffer, n)
	began := time.Now()
	for i := range children {
		c := exec.CommandContext(ctx, os.Args[0], "-child", name)
		c.Env, c.Stdout, c.Stderr = append(os.Environ(), "GOMAXPROCS=1"), &outputs[i], os.Stderr
		if err := c.Start(); err != nil {
			return 0, 0, err
		}
		children[i] = c
	}
	for i, c := range children {
		var f figures
		if err = errors.Join(err, c.Wait()); err == nil {
			err = json.Unmarshal(outputs[i].Bytes(), &f)
		}
		cpu += f.Start + f.Fill
	}
	return time.Since(began), cpu, err
}
