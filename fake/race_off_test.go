//go:build !race

package fake_test

const raced = false
