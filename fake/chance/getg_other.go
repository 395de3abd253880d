//go:build !amd64 && !arm64

package chance

// getg returns 0 on processors other than amd64 and arm64, for which this package has no assembly. Possible then returns false,
// Seed does nothing, and fake.Repeatable logs that its runs may differ.
func getg() uintptr { return 0 }
