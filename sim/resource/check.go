package resource

// Check is one step of the validation of a kind's objects.
//
// Before an update, every object's metadata is first validated like that of a new object with an arbitrary name, and then like that
// of an update. The kind's own steps follow, so causes are repeated. After a create without errors, metadata is validated again,
// like that of an object with an arbitrary name.
type Check uint8

const (
	// CheckMeta validates metadata as for a new object, with the kind's rule for names (validation.ValidateObjectMeta).
	CheckMeta Check = iota
	// CheckMetaUpdate validates metadata as for an update (validation.ValidateObjectMetaUpdate).
	CheckMetaUpdate
	// CheckFirst runs Strategy.ValidateFirst, which some kinds need before metadata is validated again.
	CheckFirst
	// CheckKind runs Strategy.Validate or Strategy.ValidateUpdate.
	CheckKind
)

// Checks lists the steps of validation in order. The order determines which of two errors comes first. The zero value is the order
// of most kinds.
type Checks struct {
	Create []Check // default: CheckMeta, CheckKind
	Update []Check // of the main resource; default: CheckMetaUpdate, CheckKind
	// Subresources holds the steps of updates of subresources, by name. The default is CheckMetaUpdate, CheckKind.
	Subresources map[string][]Check
	// Groups holds the steps of requests to API groups other than the hub's, by group.
	Groups map[string]Checks
}

var (
	createChecks = []Check{CheckMeta, CheckKind}
	updateChecks = []Check{CheckMetaUpdate, CheckKind}
)

// Of returns the validation steps for an update, or otherwise a create, of the request's resource or subresource.
func (c Checks) Of(ctx *Context, update bool) []Check {
	if group, ok := c.Groups[ctx.Definition.Group]; ok {
		c = group
	}
	steps, usual := c.Create, createChecks
	if update {
		steps, usual = c.Update, updateChecks
		if ctx.Subresource != "" {
			steps = c.Subresources[ctx.Subresource]
		}
	}
	if steps == nil {
		return usual
	}
	return steps
}
