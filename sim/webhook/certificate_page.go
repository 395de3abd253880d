//go:build page

package webhook

// checkCertificate accepts any bytes as a certificate: a parser would add a quarter of a megabyte to a page, in which no webhook is
// reached over a network.
func checkCertificate([]byte) error { return nil }
