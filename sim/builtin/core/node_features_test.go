package core

import (
	"regexp"
	"testing"

	"github.com/matryer/is"
)

// A name of a declared feature matches a regular expression (KEP-5328).
func TestFeatureNames(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	pattern := regexp.MustCompile(`^[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*$`)
	valid, all, last := 0, []string{""}, []string{""}
	for range 5 { // all strings of up to five of the following characters
		var longer []string
		for _, text := range last {
			for _, c := range "Aa0/-\n" {
				longer = append(longer, text+string(c))
			}
		}
		all, last = append(all, longer...), longer
	}
	for _, text := range append(all, "MyFeature/mySubFeature", "Ä", "A/é") {
		is.Equal(isFeatureName(text), pattern.MatchString(text)) // the same answer
		if isFeatureName(text) {
			valid++
		}
	}
	is.True(valid > 100)
}
