package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// usage measures the duration of kubectl commands on kubesim serve with many nodes and a Deployment with many pods. It compares
// the real kubectl with kubesim's own. The directory programs contains both. It returns a table row per command.
func usage(ctx context.Context, programs, name string) (string, error) {
	nodes, pods, err := size(name)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "scale")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	b := &realControlPlane{dir: dir, programs: programs}
	defer b.stop()
	if err := b.serve(ctx, nodes, "all"); err != nil {
		return "", err
	}
	text := "| command | kubectl | CPU of kubesim serve | kubesim kubectl | CPU of kubesim serve |\n" + strings.Repeat("|---", 5) + "|\n"
	for _, line := range []string{"create -f $FILE", "rollout status deployment/web-$N", "get pods -A", "get nodes", "top nodes", "top pods",
		"get pods -A -l app=none", "get pods -A --field-selector spec.nodeName=node-$N", "describe node node-$N", "drain node-$N"} {
		text += "| `" + line + "`"
		for n, kubectl := range []string{"kubectl", "kubesim kubectl"} {
			wall, cpu, err := b.kubectl(ctx, kubectl, line, n+1, pods)
			if err != nil {
				return "", err
			}
			text += fmt.Sprintf(" | %s | %s", seconds(wall), seconds(cpu))
		}
		text += " |\n"
	}
	fmt.Print(text)
	return text, nil
}

// kubectl runs a command line in which $N stands for a number and $FILE for the file of a Deployment. It returns the real time
// of the command, and the processor time that kubesim used meanwhile.
func (b *realControlPlane) kubectl(ctx context.Context, program, line string, n, pods int) (wall, cpu time.Duration, err error) {
	file := filepath.Join(b.dir, "deployment.json")
	if err := os.WriteFile(file, fmt.Appendf(nil, deployment, n, pods), 0o600); err != nil {
		return 0, 0, err
	}
	args := strings.Fields(program + " " + strings.NewReplacer("$N", fmt.Sprint(n), "$FILE", file).Replace(line))
	c := exec.CommandContext(ctx, filepath.Join(b.programs, args[0]), args[1:]...)
	c.Env = append(os.Environ(), "KUBECONFIG="+b.config())
	before, began := b.processes[0].used(), time.Now()
	if out, err := c.CombinedOutput(); err != nil {
		return 0, 0, fmt.Errorf("%s: %w: %.1000s", strings.Join(args, " "), err, out)
	}
	return time.Since(began), b.processes[0].used() - before, nil
}
