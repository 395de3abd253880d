package auth

import "github.com/kubesim/kubesim/sim/resource"

// Client describes the sender of a request beside the header: from its connection, and from the program around the server.
type Client struct {
	// User is the user that the program sets. If it is nil, the server authenticates the request.
	User *resource.User
	// Refused makes the server answer with a 401.
	Refused bool
	// Certificate is the client's certificate. It is nil if there is none, or there is no authority for clients' certificates.
	Certificate *Certificate
}

// Certificate is the result of verifying a client's certificate (Kubernetes documentation, "X.509 client certificates").
type Certificate struct {
	// User is the subject of a certificate that an authority for clients has signed: the common name and the organizations, which
	// are groups. If it has no name, the certificate identifies no user.
	User resource.User
	// Proxy reports that an authority for proxies has signed it: the header names the user.
	Proxy bool
	// Untrusted reports that one of the consulted authorities has not signed it, or not for this time and use. Then a client
	// without other credentials is refused instead of anonymous.
	Untrusted bool
}
