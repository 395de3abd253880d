package a

import "testing"

func TestWait(t *testing.T) { Wait(true) }
