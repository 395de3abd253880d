package cel

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

	// Types are what object and oldObject, and params, are. nil: anything, as for expressions that run.
	Types *Types
}

// Types are OpenAPI schemas, nil for anything, and the names that messages have for what they describe.
type Types struct {
	Object, Params         map[string]any
	ObjectName, ParamsName string
}

// Input is what one request gives to expressions. Values are JSON; nil is null.
type Input struct {
	Object, OldObject, Request, NamespaceObject, Params any
	// Authorizer answers for the user of the request. nil: everything is allowed.
	Authorizer Authorizer
	// Resource is what the request itself is about: requestResource of the authorizer.
	Resource Access

	cache map[string]any // variables that were evaluated
	spent uint64         // by variables since the last evaluation was charged
}
