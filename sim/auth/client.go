package auth

import "github.com/kubesim/kubesim/sim/resource"

// Client is what is known about the sender of a request beside its header: from its connection, and from the program
// around the server.
type Client struct {
	// User is who the program says that it is. nil: it says nothing, and the server finds out.
	User *resource.User
	// Refused says that the program wants to have nothing to do with it: 401.
	Refused bool
	// Certificate is what it showed. nil: nothing, or nobody can sign certificates for clients.
	Certificate *Certificate
}

// Certificate is what a client's certificate says about it (Kubernetes documentation, "X.509 client certificates").
type Certificate struct {
	// User is its subject, if an authority for clients has signed it: the common name and the organizations, which are
	// groups. Without a name it is nobody's.
	User resource.User
	// Proxy says that an authority for proxies has signed it: the header says who the user is.
	Proxy bool
	// Untrusted says that one of the authorities that were asked has not signed it, or not for this time and use. Then
	// nobody else is anonymous.
	Untrusted bool
}
