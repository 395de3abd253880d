// Package c needs cgo.
package c

// int two(void) { return 2; }
import "C"

// Two returns 2.
func Two() int { return int(C.two()) }
