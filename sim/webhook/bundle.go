package webhook

import (
	"cmp"
	"encoding/pem"
	"errors"
	"fmt"
)

// CheckBundle returns why a bundle of certificates in PEM cannot be loaded, nil if it can or is empty. One certificate that can be
// read is enough; else the error is about the first thing that cannot (client-go's transport.TLSConfigFor).
func CheckBundle(bundle []byte) error {
	if len(bundle) == 0 {
		return nil
	}
	const prefix = "unable to load root certificates: "
	var first error
	for rest := bundle; len(rest) > 0; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			first = cmp.Or(first, errors.New(prefix+"unable to parse bytes as PEM block"))
			break
		}
		if block.Type != "CERTIFICATE" || len(block.Headers) > 0 {
			continue
		}
		err := checkCertificate(block.Bytes)
		if err == nil {
			return nil
		}
		first = cmp.Or(first, fmt.Errorf(prefix+"failed to parse certificate: %w", err))
	}
	return cmp.Or(first, errors.New(prefix+"no valid certificate authority data seen"))
}
