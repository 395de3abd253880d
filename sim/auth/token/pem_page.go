//go:build page

package token

import "errors"

// errPage is the error in the web page, which cannot parse keys: a parser would add a third of a megabyte.
var errPage = errors.New("keys of service account tokens cannot be read in a page")

// ExternalKey is a key of an External. The web page has none.
type ExternalKey struct {
	verifier
	Unpublished bool
}

func privateKey([]byte) (signer, error) { return nil, errPage }

func publicKeys([]byte) ([]verifier, error) { return nil, errPage }
