// Package wire checks what comes over the wire, with clients that know nothing of kubesim: over a socket, in each
// format, of each endpoint.
package wire
