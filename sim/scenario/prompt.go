package scenario

// promptCommands are the commands of a shell prompt. Package sim/kubectl runs the whole line, including pipes and
// redirections.
var promptCommands = []Command{
	prompt("kubectl", "[WORD …]", "kubectl's commands: get, describe, create, apply, rollout, …", "kubectl get pods -o wide"),
	prompt("k", "[WORD …]", "the same as kubectl", "k get pods"),
	prompt("curl", "PATH", "send any HTTP request, with -X, -H, -d, --json", "curl -X DELETE /api/v1/namespaces/default/pods/a"),
	prompt("cat", "FILE …", "print files, or pipe them on", "cat pod.yaml | kubectl apply -f -"),
	prompt("echo", "TEXT", "print a text, or pipe it on", "echo hello > greeting.txt"),
	prompt("printf", "TEXT", "print a text, or pipe it on", `printf 'a=1\nb=2\n' > app.properties`),
	prompt("mkdir", "FOLDER …", "make folders, copy files", "mkdir -p overlays/dev"),
	prompt("cp", "FILE FILE", "make folders, copy files", "cp a.yaml b.yaml"),
	prompt("sleep", "SECONDS", "let time pass, as at a shell", "sleep 5"),
}

func prompt(name, usage, help, example string) Command {
	return Command{Name: name, Usage: usage, Help: help, Example: example, Group: Prompt, text: true,
		run: func(w *World, op *Op) error { return w.typed(op) }}
}
