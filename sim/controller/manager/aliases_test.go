package manager

import (
	"testing"

	"github.com/matryer/is"
)

// Every alias stands for a controller, and -ALIAS disables it.
func TestAliases(t *testing.T) {
	is := is.New(t)
	for alias, name := range aliases {
		run, err := New([]string{alias}, Flags{})
		is.NoErr(err)
		is.Equal(len(run), 1)
		is.Equal(run[0].Name, name)
		run, err = New([]string{name, "-" + alias}, Flags{})
		is.NoErr(err)
		is.Equal(len(run), 0)
	}
}
