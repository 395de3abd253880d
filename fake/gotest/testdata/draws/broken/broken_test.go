package broken

import "testing"

func TestUndefined(t *testing.T) { undefined(t) }
