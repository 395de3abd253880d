package resource

// Author is what a write, or a question about a user's rights, is attributed to: the request of a client, or a controller that asks
// for itself. The author is nil where the store acts, such as when it removes what has expired.
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
	// Own says that it is a controller, a kubelet or an API server of the simulator, which acts without a request.
	Own bool
}
