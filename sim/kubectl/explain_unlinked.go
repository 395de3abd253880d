//go:build js && nocel

package kubectl

import (
	"errors"

	"github.com/kubesim/kubesim/sim/kubectl/client"
)

// runExplain returns the error that makes a page load the other engine, which has the descriptions of all fields.
func runExplain(*call) error {
	return errors.New("this build of kubesim is without the descriptions of fields" + client.Unlinked)
}
