//go:build nocel

package engine

// dump returns the error that makes a page load the other engine, which has package dump.
func (e *Engine) dump(*request) (any, error) { return nil, errImportWantsCEL }
