package expr

// Result is what an expression must come to.
type Result string

// The results that expressions of admission have.
const (
	Bool       Result = "bool"
	String     Result = "string"
	StringNull Result = "string or null" // valueExpression of an audit annotation
	Any        Result = "any"            // a variable
	Object     Result = "Object"         // an apply configuration
	JSONPatch  Result = "JSONPatch"      // a list of operations
)

// Declarations say which variables expressions have beside object, oldObject, request and namespaceObject.
type Declarations struct {
	Params     bool
	Authorizer bool
	Patch      bool // the types Object and JSONPatch of mutations
	Alone      bool // there are no variables of a policy: conditions are looked at before them
}

// Input is what one request gives to expressions. Values are JSON; nil is null.
type Input struct {
	Object, OldObject, Request, NamespaceObject, Params any
	// Authorizer answers for the user of the request. nil: everything is allowed.
	Authorizer Authorizer
	// Resource is what the request itself is about: requestResource of the authorizer.
	Resource Access

	// Evaluated are the variables that were evaluated, by their names, and Spent is what that cost since an expression was
	// charged for it. They are the evaluator's.
	Evaluated map[string]any
	Spent     uint64
}
