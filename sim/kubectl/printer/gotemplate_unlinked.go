//go:build nocel

package printer

import "errors"

// goPrinter returns the error that makes a page load the other engine, which has package gotemplate.
func (f *PrintFlags) goPrinter(string, string) (Printer, error) { return nil, errors.New(Unlinked) }
