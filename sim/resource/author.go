package resource

// Author is the party that a write, or a question about a user's rights, is attributed to: the request of a client, or a controller
// on its own behalf. It is nil if the store itself acts, such as when it removes expired keys.
type Author interface {
	// Actor names the author.
	Actor() Actor
}

// Actor names an Author.
type Actor struct {
	// Client is the User-Agent of a request, or the name of a controller or kubelet of the simulator.
	Client string
	// User is the name of its user.
	User string
	// Own reports that it is a controller, a kubelet or an API server of the simulator, which acts without a request.
	Own bool
}
