package certificates

import (
	"testing"

	"github.com/kubesim/kubesim/sim/field"
)

// FuzzLeaf checks that no certificate or signing request in an object makes the server panic.
func FuzzLeaf(f *testing.F) {
	f.Add([]byte("\x30\x03\x02\x01\x01"))
	f.Fuzz(func(_ *testing.T, der []byte) {
		if l, ok := readLeaf(der); ok {
			l.checkNames(field.CursorOn(field.Path{}, "chain"))
			l.isFor(der, nil)
			l.isFor(nil, der)
		}
		_ = checkRequestBytes(der)
		_, _ = organizations(der)
	})
}
