package sub

import (
	"testing"

	"example.com/a"
)

func TestSub(t *testing.T) { a.Wait(true) }
