package expr

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
