//go:build amd64 || arm64

package chance

// getg returns the address of the runtime's record of the current goroutine.
func getg() uintptr
