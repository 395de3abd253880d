package expr

// Result is the required result type of an expression.
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

// Environment determines the functions of expressions and their semantics.
type Environment struct {
	// Minor is the minor version of the server: 36 is Kubernetes 1.36. 0 means the default.
	Minor int
	// Stored allows all features of the server's version. A new expression can use only features that a server of the previous
	// minor has, too, so that an upgrade of the cluster can be rolled back (apiserver/pkg/cel/environment: NewExpressions,
	// StoredExpressions).
	Stored bool
}

// Known are the stored parts of a schema's rules: an update may keep parts that would be refused in a new definition. The zero
// value is for a new definition.
type Known struct {
	// Rules and Messages are expressions of the stored definition: they are compiled as Environment.Stored.
	Rules, Messages map[string]bool
	// Unchanged is set if the whole schema is the stored one: the cost of each rule is unlimited then, but not that of all
	// together.
	Unchanged bool
}

// Declarations are the variables of expressions beside object, oldObject, request and namespaceObject.
type Declarations struct {
	Params     bool
	Authorizer bool
	Patch      bool // the types Object and JSONPatch of mutations
	Alone      bool // there are no variables of a policy: conditions are looked at before them

	// Types are the types of object, oldObject and params. If nil, they are dynamic, as in expressions that run.
	Types *Types
}

// Types are OpenAPI schemas, nil for any type, and the names of these types in error messages.
type Types struct {
	Object, Params         map[string]any
	ObjectName, ParamsName string
}

// Input has the values of expressions for one request. Values are JSON; nil is null.
type Input struct {
	Object, OldObject, Request, NamespaceObject, Params any
	// Structs and ParamsStructs are set if Object and OldObject, and Params, are of built-in kinds. Since 1.37 such values are not
	// converted to JSON first, and a comparison with another type is an error.
	Structs, ParamsStructs bool
	// Authorizer answers for the user of the request. If nil, everything is allowed.
	Authorizer Authorizer
	// Resource is the resource of the request itself: requestResource of the authorizer.
	Resource Access

	// WithoutAuthorizer is set if authorizer is not bound: an expression that uses it, or a variable that does, fails.
	WithoutAuthorizer bool

	// Evaluated are the evaluated variables, by name, and Spent is their cost that was not charged to an expression yet. Only the
	// evaluator uses them.
	Evaluated map[string]any
	Spent     uint64
}

// Afresh returns the input for another group of expressions, which evaluates variables again.
func (in *Input) Afresh(authorizer bool) *Input {
	other := *in
	other.Evaluated, other.Spent, other.WithoutAuthorizer = nil, 0, !authorizer
	return &other
}

// Access is a query of an expression to an authorizer.
type Access struct {
	// ServiceAccount is the service account to check, as namespace and name. If both are empty, it is the user of the request.
	ServiceAccountNamespace, ServiceAccountName string

	Verb string
	Path string // "" for a resource

	Group, Resource, Subresource, Namespace, Name string
}

// Authorizer answers the questions of expressions.
type Authorizer func(Access) (allowed bool, reason string)
