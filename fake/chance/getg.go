//go:build amd64 || arm64

package chance

// getg returns the address of the goroutine's own record in the runtime.
func getg() uintptr
