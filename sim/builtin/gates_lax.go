package builtin

import (
	"slices"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// laxAddresses lets addresses and networks pass that can be read in one way only by those who know that leading zeros are
// not octal and that ::ffff:1.2.3.4 is IPv4, as all servers before StrictIPCIDRValidation do in the fields of the time.
func laxAddresses(s *resource.Strategy) {
	validate, change := s.Validate, s.ValidateUpdate
	if validate != nil {
		s.Validate = func(ctx *resource.Context, obj object.Object) field.ErrorList {
			return slices.DeleteFunc(validate(ctx, obj), isStrict)
		}
	}
	if change != nil {
		s.ValidateUpdate = func(ctx *resource.Context, obj, old object.Object) field.ErrorList {
			return slices.DeleteFunc(change(ctx, obj, old), isStrict)
		}
	}
}

// isStrict reports whether an error is one of those that field.LegacyIP and field.LegacyCIDR have of strict servers only.
func isStrict(e *field.Error) bool { return field.StrictOnly(e.Detail) }
