//go:build race

package explore_test

// raced says that the race detector is on, whose runtime draws by itself: runs are not repeated to the byte.
const raced = true
