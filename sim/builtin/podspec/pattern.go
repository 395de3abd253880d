package podspec

import (
	"regexp"
	"sync"
)

// pattern returns a function that returns the regular expression, which is compiled on first use. Few pods need these expressions,
// and compiling their counted repetitions would dominate the start of a program.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
