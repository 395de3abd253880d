package chance

import "runtime"

// Goroutine returns a number that identifies the current goroutine as long as it exists.
func Goroutine() uintptr {
	if g := getg(); g != 0 {
		return g
	}
	var text [40]byte // goroutine 17 [running]:
	const skip = len("goroutine ")
	n := uintptr(0)
	for _, c := range text[skip:runtime.Stack(text[:], false)] {
		if c < '0' || c > '9' {
			break
		}
		n = 10*n + uintptr(c-'0')
	}
	return n
}
