// Package wire checks the bytes that kubesim sends, with clients that do not depend on kubesim: over a socket, in each format, and
// for each endpoint.
package wire
