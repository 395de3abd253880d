// Package celgo evaluates expressions and rules with cel-go, as the API server does.
//
//	openAPIV3Schema ─▶ node ─ properties ─▶ node …       structure of a value
//	                    │ └─ decl: the CEL type, its maximum size, the minimum size of its JSON
//	                    └─ rules ─▶ program, message program, estimated cost
//
//	CompileVersion ─▶ Rules ─ Validate ─▶ field errors              one budget for all rules of an object
//	NewCompiler  ─▶ Program ─ Eval(variables)  ─▶ JSON value        one budget for all expressions of a policy
//
// Values are those of package object. They are neither modified nor copied: rules access them through typed views, which
// contain only the fields that the schema declares. Maps are iterated in key order, so that the cost and the message of a rule
// are deterministic. Limits and texts are those of the real server (Kubernetes documentation, "Validation rules" and "Common
// Expression Language in Kubernetes").
package celgo

// The limits of the real server. Cost limits are in cost units. Package expr contains the exported limits.
const (
	callLimit        = 1_000_000   // for one expression at run time
	staticRuleLimit  = 10_000_000  // for the estimate of one rule
	staticTotalLimit = 100_000_000 // for the estimates of all rules of a version
	requestMax       = 3 << 20     // bytes of a request, which limits the size of values without a limit in the schema
)
