//go:build js && nocel

package kubectl

import (
	"errors"

	"github.com/kubesim/kubesim/sim/kubectl/client"
)

// The following commands return the error that makes a page load the other engine, which implements them.

// runExplain needs the descriptions of all fields.
func runExplain(*call) error { return unlinked("descriptions of fields") }

func runCertificateApprove(*call) error { return unlinked("decisions about certificates") }
func runCertificateDeny(*call) error    { return unlinked("decisions about certificates") }

// runTaint changes taints, which beginners rarely do.
func runTaint(*call) error { return unlinked("changes of taints") }

func runTopNode(*call) error { return unlinked("usage of resources") }
func runTopPod(*call) error  { return unlinked("usage of resources") }

// runDiff compares texts by lines.
func runDiff(*call) error { return unlinked("diff") }

func unlinked(part string) error {
	return errors.New("this build of kubesim is without " + part + client.Unlinked)
}
