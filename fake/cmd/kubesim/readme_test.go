package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// separator stands between the outputs of two commands.
const separator = "----- the next command -----\n"

// TestLearn runs the commands of examples/learn in one bash and compares their output with the text.
func TestLearn(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl", "grep", "base64"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the lesson needs %s", tool)
		}
	}
	readme, err := os.ReadFile("../../../examples/learn/README.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := lesson(string(readme))
	if len(commands) < 10 {
		t.Fatalf("examples/learn/README.md has %d commands: the test looks in the wrong place", len(commands))
	}
	s := serving(t, "--clock", "manual")
	var script strings.Builder
	for _, c := range commands {
		if c.line == "S=http://127.0.0.1:8001" { // the lesson's server
			c.line = "S=" + s.url
		}
		fmt.Fprintf(&script, "%s\nprintf '%%s' '%s'\n", c.line, separator)
	}
	bash := exec.CommandContext(t.Context(), "bash", "-c", script.String())
	var stderr bytes.Buffer
	bash.Stderr = &stderr
	out, err := bash.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	got := strings.Split(string(out), separator)
	for i, c := range commands {
		if got[i] != c.prints {
			t.Errorf("$ %s\nprints\n%sexamples/learn/README.md says\n%s\n%s", c.line, got[i], c.prints, &stderr)
		}
	}
}

// command is a line of the lesson after a $, and the output shown below it.
type command struct {
	line, prints string
}

// lesson returns the commands in a document's console blocks. It leaves out the one that starts the server, and those of
// kubectl where there is none.
func lesson(readme string) (commands []command) {
	_, kubectl := exec.LookPath("kubectl")
	for _, block := range strings.Split(readme, "```console\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		for _, text := range strings.Split("\n"+block, "\n$ ")[1:] {
			line, prints, _ := strings.Cut(text, "\n")
			if prints != "" && !strings.HasSuffix(prints, "\n") {
				prints += "\n"
			}
			started := strings.HasPrefix(line, "go run ./fake/cmd/kubesim serve")
			if !started && (kubectl == nil || !strings.HasPrefix(line, "kubectl ")) {
				commands = append(commands, command{line, prints})
			}
		}
	}
	return commands
}

// TestReadmeScenarios runs the scenarios that the guide shows.
func TestReadmeScenarios(t *testing.T) {
	t.Parallel()
	for _, guide := range []string{"../../../examples/scenarios/README.md"} {
		text, err := os.ReadFile(guide)
		if err != nil {
			t.Fatal(err)
		}
		shown := 0
		for _, block := range strings.Split("\n"+string(text), "\n```\n# ")[1:] { // a scenario begins with its story
			block, _, _ = strings.Cut(block, "\n```\n")
			shown++
			if code, stdout, stderr := ended("run", scenarioFile(t, "# "+block+"\n")); code != 0 {
				t.Errorf("the scenario in %s fails:\n%s\n%s%s", guide, block, stdout, stderr)
			}
		}
		if shown == 0 {
			t.Errorf("%s shows no scenario", guide)
		}
	}
}
