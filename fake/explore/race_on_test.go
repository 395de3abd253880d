//go:build race

package explore_test

// raced reports that the race detector is on. Its runtime draws random numbers, so runs cannot be repeated to the byte.
const raced = true
