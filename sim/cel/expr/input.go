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

// Environment says whose expressions they are: which functions they have, what the same expression comes to.
type Environment struct {
	// Minor is the minor version of the server: 36 is Kubernetes 1.36. 0 means the default.
	Minor int
	// Stored says that what the server itself knows can be used. An expression that is written anew can use only what a
	// server of the minor before knows, too, so that an update of the cluster can be taken back
	// (apiserver/pkg/cel/environment: NewExpressions, StoredExpressions).
	Stored bool
}

// Known is what of the rules of a schema is stored already: an update keeps what a server would not accept anew. Its zero value is a
// new definition's.
type Known struct {
	// Rules and Messages are expressions of the stored definition: they are compiled as Environment.Stored.
	Rules, Messages map[string]bool
	// Unchanged says that the whole schema is the stored one: a rule may cost what it costs, all together may not.
	Unchanged bool
}

// Declarations say which variables expressions have beside object, oldObject, request and namespaceObject.
type Declarations struct {
	Params     bool
	Authorizer bool
	Patch      bool // the types Object and JSONPatch of mutations
	Alone      bool // there are no variables of a policy: conditions are looked at before them

	// Types are the types of object, oldObject and params. If nil, they are dynamic, as in expressions that run.
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
	// Structs and ParamsStructs say that Object and OldObject, and Params, are of built-in kinds. Since 1.37 such values are
	// not turned into JSON first, and say so when they are compared with something else.
	Structs, ParamsStructs bool
	// Authorizer answers for the user of the request. If nil, everything is allowed.
	Authorizer Authorizer
	// Resource is what the request itself is about: requestResource of the authorizer.
	Resource Access

	// WithoutAuthorizer says that authorizer is not bound: an expression that uses it, or a variable that does, fails.
	WithoutAuthorizer bool

	// Evaluated are the variables that were evaluated, by their names, and Spent is what that cost since an expression was
	// charged for it. They are the evaluator's.
	Evaluated map[string]any
	Spent     uint64
}

// Afresh returns the input for another group of expressions, which evaluates variables again.
func (in *Input) Afresh(authorizer bool) *Input {
	other := *in
	other.Evaluated, other.Spent, other.WithoutAuthorizer = nil, 0, !authorizer
	return &other
}
