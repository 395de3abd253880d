// Package a has a statement that its test covers, and one that it does not.
package a

import "example.com/b"

// Wait waits for an hour, or does not.
func Wait(wait bool) string {
	if wait {
		b.Wait()
		return "waited"
	}
	return "did not wait"
}
