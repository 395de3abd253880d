package resource

// Author is the party to which a write, or a check of a user's rights, is attributed: a client's request, or a controller that acts
// on its own behalf. It is nil if the store itself acts, for example when it removes expired keys.
type Author interface {
	// Actor returns the identity of the author.
	Actor() Actor
}

// Actor identifies an Author in traces and audit events.
type Actor struct {
	// Client is the User-Agent of a request, or the name of a controller or kubelet of the simulator.
	Client string
	// User is the user name of the request, controller or kubelet.
	User string
	// Own reports that the author is a controller, a kubelet or an API server of the simulator, which acts without a request.
	Own bool
}
