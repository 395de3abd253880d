//go:build race

package explore_test

// raced reports whether the race detector is enabled. Its runtime draws random numbers, so runs are not byte-identical.
const raced = true
