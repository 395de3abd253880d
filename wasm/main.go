//go:build !js

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "wasm runs in a page; build it with make wasm")
	os.Exit(2)
}
