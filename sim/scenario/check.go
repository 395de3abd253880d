package scenario

import (
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/scenario/condition"
)

// examine checks an operation before it runs. at is the column at which the arguments begin. Variables are skipped:
// their values are checked after substitution.
func (c *Command) examine(op *Op, at int) error {
	for i, text := range op.Args {
		if condition.IsVariable(text) {
			continue
		}
		if err := c.Arg(i).check(c.Name, text, at); err != nil {
			return err
		}
	}
	if c.check != nil {
		if err := c.check(op, at); err != nil {
			return err
		}
	}
	for _, f := range op.Flags {
		if known := findFlag(f.Name); known == nil || !known.number || condition.IsVariable(f.Value) {
			continue
		}
		if n, err := strconv.ParseInt(f.Value, 10, 64); err != nil || n < 0 {
			return wrong(at, "--%s takes a number, not %q", f.Name, f.Value)
		}
	}
	return nil
}

// check returns an error if text is not a valid argument of kind a. at is the column of the argument.
func (a Arg) check(command, text string, at int) error {
	switch a {
	case Number, Replica:
		if n, err := strconv.ParseUint(text, 10, 64); err != nil || n == 0 {
			return wrong(at, "%s needs a number above zero, not %q", command, text)
		}
	case Duration, Offset:
		if d, err := time.ParseDuration(text); err != nil || d < 0 && a == Duration {
			return wrong(at, "%s needs a duration such as 5m or 1.5s, not %q", command, text)
		}
	}
	return nil
}

// target parses the resource and the name that begin at argument n: "pods a", "pods/a", "pods".
func (op *Op) target(n int) (resource, name string) {
	resource, name = op.arg(n), op.arg(n+1)
	if r, rest, ok := strings.Cut(resource, "/"); ok && name == "" {
		return r, rest
	}
	return resource, name
}
