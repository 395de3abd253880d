// Package celgo evaluates expressions and rules with cel-go, as the API server does.
//
//	openAPIV3Schema ─▶ node ─ properties ─▶ node …       structure of a value
//	                    │ └─ decl: the CEL type, its greatest size, the least size of its JSON
//	                    └─ rules ─▶ program, message program, estimated cost
//
//	CompileVersion ─▶ Rules ─ Validate ─▶ field errors              one budget for all rules of an object
//	NewCompiler  ─▶ Program ─ Eval(variables)  ─▶ JSON value        one budget for all expressions of a policy
//
// Values are those of package object; they are never changed and never copied: a typed view shows a rule only the fields that the
// schema declares. Maps are read in the order of their keys, so that the cost and the message of a rule are deterministic. Limits
// and texts are the real server's (semantics of "Validation rules" and "Common Expression Language in Kubernetes" of the
// documentation).
package celgo

// The limits of the real server, in cost units where they limit cost. Package expr has the exported ones.
const (
	callLimit        = 1_000_000   // one expression when it runs
	staticRuleLimit  = 10_000_000  // the estimate for one rule
	staticTotalLimit = 100_000_000 // the estimate for all rules of a version
	requestMax       = 3 << 20     // bytes of a request: bounds the size of values without a limit in the schema
)
