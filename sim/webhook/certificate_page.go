//go:build page

package webhook

// checkCertificate takes any bytes for a certificate: what reads certificates weighs a quarter of a megabyte in a page, in which no
// webhook is reached over a network.
func checkCertificate([]byte) error { return nil }
