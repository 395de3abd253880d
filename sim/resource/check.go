package resource

// Check is one step of the validation of a kind's objects.
//
// Before an update, every object's metadata is checked as that of a new object with any name, then as that of an update;
// the kind's own steps come on top, so causes repeat. After a create without errors, metadata is checked as that of an
// object with any name.
type Check uint8

const (
	// CheckMeta checks metadata as that of a new object, with the kind's rule for names (validation.ValidateObjectMeta).
	CheckMeta Check = iota
	// CheckMetaUpdate checks metadata as that of an update (validation.ValidateObjectMetaUpdate).
	CheckMetaUpdate
	// CheckFirst runs Strategy.ValidateFirst, which kinds use before a further check of metadata.
	CheckFirst
	// CheckKind runs Strategy.Validate or Strategy.ValidateUpdate.
	CheckKind
)

// Checks are the steps of validation in their order, which decides which of two errors comes first. Its zero value is the order of
// most kinds.
type Checks struct {
	Create []Check // default: CheckMeta, CheckKind
	Update []Check // of the main resource; default: CheckMetaUpdate, CheckKind
	// Subresources are the steps of updates of subresources, by name. Others: CheckMetaUpdate, CheckKind.
	Subresources map[string][]Check
	// Groups are the steps of requests to another API group than that of the hub, by group.
	Groups map[string]Checks
}

var (
	createChecks = []Check{CheckMeta, CheckKind}
	updateChecks = []Check{CheckMetaUpdate, CheckKind}
)

// Of returns the steps for a request.
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
