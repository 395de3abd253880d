//go:build page

package certificates

import "time"

// notAfter knows no certificate: in a page nobody issues one.
func notAfter(string) (end time.Time, ok bool) { return end, false }
