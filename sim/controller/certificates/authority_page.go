//go:build page

package certificates

import "time"

// notAfter returns false, because the web page issues no certificates.
func notAfter(string) (end time.Time, ok bool) { return end, false }
