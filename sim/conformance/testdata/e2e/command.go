package main

import (
	"cmp"
	"hash/fnv"
	"regexp"
	"strconv"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
)

// fate describes how the containers of a started pod end.
type fate struct {
	ends bool // by themselves
	in   time.Duration
	exit int32
}

// fate returns how and when the containers of a pod end, according to their commands. It knows the commands with which the tests make
// containers end: exit, true, false, echo, env and sleep, with or without a shell around them. Other commands run forever.
func (n *nodes) fate(pod *core.Pod) fate {
	all := fate{ends: true}
	for _, c := range pod.Spec.Containers {
		command := strings.Join(append(append([]string{}, c.Command...), c.Args...), " ")
		if command == "" && strings.Contains(c.Image, "/busybox:") {
			command = "exit 0" // its own command is a shell with nothing to read
		}
		f := outcome(n.branch(pod, command))
		all = fate{all.ends && f.ends, max(all.in, f.in), max(all.exit, f.exit)}
	}
	return all
}

var (
	shell  = regexp.MustCompile(`^\s*(/bin/)?(sh|bash) -c\s+`)
	odd    = regexp.MustCompile(`expr \$\{JOB_COMPLETION_INDEX\} % 2`)
	marker = regexp.MustCompile(`(?s)\[\[ -r (\S+) \]\].*touch \S+\s+(.*?)\s+fi\s*$`)
	random = regexp.MustCompile(`\$\(\( \$RANDOM / (\d+) \)\)`)
)

// branch returns the command that a script of package test/e2e/framework/job runs in a pod, after its decisions: by the index of the
// pod, by a file that an earlier pod has left, or by chance. Other commands are returned unchanged.
func (n *nodes) branch(pod *core.Pod, command string) string {
	script := shell.ReplaceAllString(command, "")
	index := pod.Annotations["batch.kubernetes.io/job-completion-index"]
	if odd.MatchString(script) {
		i, _ := strconv.Atoi(index)
		return "exit " + strconv.Itoa(i%2)
	}
	if m := marker.FindStringSubmatch(script); m != nil {
		file := volume(pod) + strings.ReplaceAll(m[1], "$JOB_COMPLETION_INDEX", index)
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.files[file] {
			return "exit 0"
		}
		n.files[file] = true
		return m[2]
	}
	if m := random.FindStringSubmatch(script); m != nil {
		h := fnv.New32()
		h.Write([]byte(pod.UID))
		divisor, _ := strconv.Atoi(m[1])
		return "exit " + strconv.Itoa(int(h.Sum32()%32768)/max(divisor, 1))
	}
	return script
}

// volume is a name for where the files of a pod are.
func volume(pod *core.Pod) string {
	for _, v := range pod.Spec.Volumes {
		if v.HostPath != nil {
			return v.HostPath.Path
		}
	}
	return string(pod.UID)
}

// outcome reads a command without decisions.
func outcome(script string) fate {
	f := fate{ends: strings.TrimSpace(script) != ""}
	for _, step := range strings.FieldsFunc(script, func(r rune) bool { return r == ';' || r == '&' || r == '\n' }) {
		words := strings.Fields(step)
		if len(words) == 0 {
			continue
		}
		number, err := strconv.Atoi(words[len(words)-1])
		switch strings.TrimPrefix(words[0], "/bin/") {
		case "sleep":
			if err != nil {
				return fate{}
			}
			f.in += time.Duration(number) * time.Second
		case "exit":
			return fate{err == nil, f.in, int32(number)}
		case "true", "echo", "env", "date":
		case "false":
			f.exit = 1
		default:
			return fate{}
		}
	}
	return f
}

// deadline reports whether a running pod has exceeded its deadline, and otherwise the time until it does, or 0 if it has none.
func deadline(pod *core.Pod) (over bool, left time.Duration) {
	if pod.Spec.ActiveDeadlineSeconds == nil {
		return false, 0
	}
	left = time.Until(pod.Status.StartTime.Add(time.Duration(*pod.Spec.ActiveDeadlineSeconds) * time.Second))
	return left <= 0, left
}

// sooner is the smaller of two times to wait, where 0 is never.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return cmp.Or(a, b)
	}
	return min(a, b)
}
