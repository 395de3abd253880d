package expr

// Result is the required result type of an expression.
type Result string

// The result types of admission expressions.
const (
	Bool       Result = "bool"
	String     Result = "string"
	StringNull Result = "string or null" // valueExpression of an audit annotation
	Any        Result = "any"            // a variable
	Object     Result = "Object"         // an apply configuration
	JSONPatch  Result = "JSONPatch"      // a list of operations
)

// Environment determines the available functions and the semantics of expressions.
type Environment struct {
	// Minor is the minor version of the server: 36 is Kubernetes 1.36. The default is the default version of the simulator.
	Minor int
	// Stored allows all features of the server's version. New expressions may use only features that servers of the
	// previous minor version also have, so that an upgrade of the cluster can be rolled back
	// (apiserver/pkg/cel/environment: NewExpressions, StoredExpressions).
	Stored bool
}

// Variable is the only variable of an expression in a configuration file.
type Variable string

const (
	Claims       Variable = "claims"  // the claims of a token
	User         Variable = "user"    // the user that a token identifies
	AccessReview Variable = "request" // a SubjectAccessReviewSpec
)

// Known contains the expressions of a stored definition. An update may keep expressions that would be rejected in a
// new definition. The zero value is for a new definition.
type Known struct {
	// Rules and Messages are the expressions of the stored definition. They are compiled with Environment.Stored.
	Rules, Messages map[string]bool
	// Unchanged is set if the entire schema equals the stored one. The cost of single rules is then unlimited, but not
	// their total.
	Unchanged bool
}

// Declarations selects the variables of expressions, in addition to object, oldObject, request and namespaceObject.
type Declarations struct {
	Params     bool
	Authorizer bool
	Patch      bool // the types Object and JSONPatch of mutations
	Alone      bool // there are no policy variables, because conditions are evaluated before them

	// Types are the types of object, oldObject and params. If nil, these have dynamic types, which are those of expressions that
	// are evaluated.
	Types *Types
}

// Types contains the OpenAPI schemas of variables, and the names of their types in error messages. If a schema is nil, the variable
// may have any type.
type Types struct {
	Object, Params         map[string]any
	ObjectName, ParamsName string
}

// Input contains the values of variables for one request. Values are JSON; nil is null.
type Input struct {
	Object, OldObject, Request, NamespaceObject, Params any
	// Structs reports whether Object and OldObject are of a built-in kind, and ParamsStructs whether Params is. Since 1.37
	// such values are not converted to JSON first, and a comparison with another type is an error.
	Structs, ParamsStructs bool
	// Authorizer authorizes the user of the request. If nil, everything is allowed.
	Authorizer Authorizer
	// Resource is the resource of the request, which is authorizer.requestResource in expressions.
	Resource Access

	// WithoutAuthorizer reports whether authorizer is undefined. An expression that uses it, directly or through a variable, then
	// fails.
	WithoutAuthorizer bool

	// Evaluated are the variables that have been evaluated, by name. Spent is their cost that has not been charged to an
	// expression yet. Only the evaluator uses them.
	Evaluated map[string]any
	Spent     uint64
}

// ForNewGroup returns the input for the next group of expressions. Variables are evaluated again in each group.
func (in *Input) ForNewGroup(authorizer bool) *Input {
	other := *in
	other.Evaluated, other.Spent, other.WithoutAuthorizer = nil, 0, !authorizer
	return &other
}

// Access is an authorization query from an expression.
type Access struct {
	// ServiceAccountNamespace and ServiceAccountName select the service account to check. If both are empty, the user of
	// the request is checked.
	ServiceAccountNamespace, ServiceAccountName string

	Verb string
	Path string // "" for a resource request

	Group, Resource, Subresource, Namespace, Name string
	FieldSelector, LabelSelector                  string
}

// Decision is the answer to an authorization query. Error is the error of an authorizer that could not decide, or "".
type Decision struct {
	Allowed       bool
	Reason, Error string
}

// Authorizer decides the authorization queries of expressions.
type Authorizer func(Access) Decision
