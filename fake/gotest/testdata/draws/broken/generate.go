//go:build ignore

// Command generate is not part of the package. It imports "C", as the generators of golang.org/x/sys/unix do.
package main

import "C"

func main() {}
