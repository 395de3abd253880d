//go:build nocel

package client

import (
	"errors"

	"github.com/kubesim/kubesim/sim/object"
)

// Kustomized returns the error that makes a page load the other engine, which has package kustomize.
func (b *Builder) Kustomized(string) ([]object.Object, error) {
	return nil, errors.New("this build of kubesim is without kustomize" + Unlinked)
}
