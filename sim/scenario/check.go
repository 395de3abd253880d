package scenario

import (
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim"
)

// check looks at what can be known to be wrong before the operation is carried out. at is where its rest begins.
func (op *Op) check(at int) error {
	switch op.Name {
	case "get", "list", "watch", "informer", "pager":
		return op.checkRead(at)
	case "create", "apply", "replace", "patch":
		return op.checkWrite(at)
	case "delete":
		return op.checkDelete(at)
	case "request":
		return op.checkRequest(at)
	case "controller":
		if !op.has("filename") {
			return wrong(at+1, "controller needs its rules: controller %s -f rules.yaml", op.arg(0))
		}
	}
	return op.checkWorld(at)
}

func (op *Op) checkRead(at int) error {
	_, name := op.target(0)
	switch {
	case op.Name == "list" && name != "":
		return wrong(at, "list reads a whole resource; get %s reads one object", op.Args[0])
	case name != "" && op.has("all-namespaces"):
		return wrong(at, "one object is in one namespace: leave out -A")
	case op.Name == "watch" && op.has("limit"):
		return wrong(at, "a watch has no pages: leave out --limit")
	}
	return op.checkNumbers(at)
}

func (op *Op) checkWrite(at int) error {
	file := op.has("filename")
	_, name := op.target(0)
	switch {
	case op.Name == "patch" && !op.has("patch") && !file:
		return wrong(at+1, "patch needs a patch: -p '{\"data\":{\"k\":\"v\"}}', or -f FILE")
	case op.Name == "patch" && name == "":
		return wrong(at+1, "patch needs the name of an object: patch %s NAME -p …", op.arg(0))
	case op.Name == "create" && !file && name == "":
		return wrong(at+1, "create needs a file or a name: create -f FILE, or create RESOURCE NAME")
	case (op.Name == "apply" || op.Name == "replace") && !file:
		return wrong(at+1, "%s needs a file: -f FILE", op.Name)
	case file && (op.has("set") || op.has("from-literal")):
		return wrong(at+1, "the object comes from -f or from --set, not from both")
	case op.has("patch") && file:
		return wrong(at+1, "the patch comes from -p or from -f, not from both")
	case op.Name == "apply" && op.has("type"):
		return wrong(at+1, "apply has one type of patch: leave out --type")
	}
	return op.checkNumbers(at)
}

func (op *Op) checkDelete(at int) error {
	_, name := op.target(0)
	several := op.has("all") || op.has("selector") || op.has("field-selector")
	switch {
	case name == "" && !several && !op.has("filename"):
		return wrong(at+1, "delete needs a name; to delete all of them: --all or -l SELECTOR")
	case name != "" && several:
		return wrong(at+1, "delete takes a name or selectors, not both")
	}
	return op.checkNumbers(at)
}

func (op *Op) checkRequest(at int) error {
	if !strings.HasPrefix(op.Args[1], "/") {
		return wrong(at, "a path begins with a slash: /api/v1/namespaces")
	}
	for _, r := range op.Args[0] {
		if r < 'A' || r > 'Z' {
			return wrong(at, "a method is written in capitals, as GET; %q is none", op.Args[0])
		}
	}
	for _, h := range op.all("header") {
		if name, _, ok := strings.Cut(h, ":"); !ok || strings.TrimSpace(name) == "" {
			return wrong(at, "a header is -H 'Name: value'; %q has no colon or no name", h)
		}
	}
	return nil
}

// checkNumbers looks at flags whose values are numbers. A value that a variable gives is looked at when it is known.
func (op *Op) checkNumbers(at int) error {
	for _, name := range []string{"via", "limit", "timeout", "grace"} {
		if v, ok := op.Flag(name); ok && !variable(v) {
			if n, err := strconv.ParseInt(v, 10, 64); err != nil || n < 0 {
				return wrong(at, "--%s is a number, not %q", name, v)
			}
		}
	}
	return nil
}

// variable reports whether a text is known only when the operation is carried out.
func variable(text string) bool { return strings.Contains(text, "$") || strings.Contains(text, "{{") }

// numbered are the commands whose argument is a number.
var numbered = map[string]int{"seed": 0, "replicas": 0, "replica": 0, "lag": 0, "cut": 0, "resume": 0, "restart": 0,
	"stall": 0, "unready": 0, "route": 1, "step": 1}

// timed are the commands whose argument is a duration.
var timed = map[string]int{"clock": 1, "stall": 1, "unready": 1, "jump": 1}

func (op *Op) checkWorld(at int) error {
	if i, ok := numbered[op.Name]; ok && i < len(op.Args) && !variable(op.Args[i]) {
		if n, err := strconv.ParseUint(op.Args[i], 10, 64); err != nil || n == 0 {
			return wrong(at, "%s needs a number above zero, not %q", op.Name, op.Args[i])
		}
	}
	if i, ok := timed[op.Name]; ok && i < len(op.Args) && !variable(op.Args[i]) {
		if d, err := time.ParseDuration(op.Args[i]); err != nil || d < 0 && op.Name != "jump" {
			return wrong(at, "%s needs a duration such as 5m or 1.5s, not %q", op.Name, op.Args[i])
		}
	}
	switch op.Name {
	case "clock":
		if op.Args[0] != "advance" {
			return wrong(at, "a clock can only advance: clock advance 5m")
		}
	case "tick":
		d, err := time.ParseDuration(op.Args[0])
		if op.Args[0] != "next" && op.Args[0] != "quiet" && !variable(op.Args[0]) && (err != nil || d < 0) {
			return wrong(at, "tick takes a duration such as 5m, next, or quiet; not %q", op.Args[0])
		}
	case "replica":
		for _, o := range op.Args[1:] {
			if err := setOption(&sim.ReplicaOptions{}, o); err != nil {
				return wrong(at, "%s", err)
			}
		}
	case "expect", "never", "eventually", "once", "let", "fault":
		return op.checkText(at)
	}
	return nil
}

// target returns the resource and the name that begin at argument n: "pods a", "pods/a", "pods".
func (op *Op) target(n int) (resource, name string) {
	resource, name = op.arg(n), op.arg(n+1)
	if r, rest, ok := strings.Cut(resource, "/"); ok && name == "" {
		return r, rest
	}
	return resource, name
}
