//go:build page

package certificates

// In a page certificates are checked as far as their PEM goes: what reads them weighs a third of a megabyte.

func checkRequestBytes([]byte) error { return nil }

// Organizations knows none.
func Organizations([]byte) ([]string, error) { return nil, nil }

func checkAuthority([]byte) string { return "" }

func checkCertificateBytes([]byte) error { return nil }

// CheckKeyPair lets every pair pass.
func CheckKeyPair(_, _ []byte) error { return nil }
