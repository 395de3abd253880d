package podspec

import (
	"regexp"
	"sync"
)

// pattern returns a regular expression that is compiled when it is first asked for. Few pods have what these describe, and
// with their counted repetitions they would be a good part of what a program does before it starts.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
