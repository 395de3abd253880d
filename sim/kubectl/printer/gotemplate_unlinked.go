//go:build nocel

package printer

import (
	"errors"

	"github.com/kubesim/kubesim/sim/kubectl/client"
)

// goPrinter returns the error that makes a page load the other engine, which has package gotemplate.
func (f *PrintFlags) goPrinter(string, string) (Printer, error) {
	return nil, errors.New("this build of kubesim is without templates of Go" + client.Unlinked)
}
