package builtin

import (
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// wording is a part of a warning whose words changed with a minor, whatever its gates are.
type wording struct {
	since       int    // minor: 36 is 1.36
	now, before string // before "": older servers do not say it at all
}

var wordings = []wording{
	{36, `" is invalid: use "`, `" will be considered invalid in a future Kubernetes release: use "`}, // non-standard addresses
	{36, "spec.externalIPs is deprecated and may no longer be implemented in some clusters", ""},
}

// reword makes a strategy warn in the words of a minor.
func reword(s *resource.Strategy, minor string) {
	_, number, _ := strings.Cut(minor, ".")
	at, _ := strconv.Atoi(number)
	var older []wording
	for _, w := range wordings {
		if at < w.since {
			older = append(older, w)
		}
	}
	warn := s.Warn
	if warn == nil || len(older) == 0 {
		return
	}
	s.Warn = func(ctx *resource.Context, obj, old object.Object) {
		in := *ctx
		in.Warn = func(text string) {
			for _, w := range older {
				if w.before == "" && strings.Contains(text, w.now) {
					return
				}
				text = strings.Replace(text, w.now, w.before, 1)
			}
			ctx.Warn(text)
		}
		warn(&in, obj, old)
	}
}

// matchingOnly makes the constraints of a claim want matchAttribute, as servers do that do not know distinctAttribute.
func matchingOnly(s *resource.Strategy) {
	named := func(errs field.ErrorList) field.ErrorList {
		for _, e := range errs {
			if e.Detail == oneConstraint {
				e.Field, e.Detail = e.Field.Child("matchAttribute"), ""
			}
		}
		return errs
	}
	validate, change := s.Validate, s.ValidateUpdate
	s.Validate = func(ctx *resource.Context, obj object.Object) field.ErrorList { return named(validate(ctx, obj)) }
	s.ValidateUpdate = func(ctx *resource.Context, obj, old object.Object) field.ErrorList {
		return named(change(ctx, obj, old))
	}
}
