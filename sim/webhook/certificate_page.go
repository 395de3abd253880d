//go:build page

package webhook

// checkCertificate accepts any bytes. A parser would add a quarter of a megabyte to a web page, which cannot send requests to
// webhooks anyway.
func checkCertificate([]byte) error { return nil }
