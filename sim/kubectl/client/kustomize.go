//go:build !nocel

package client

import (
	"github.com/kubesim/kubesim/sim/kubectl/kustomize"
	"github.com/kubesim/kubesim/sim/object"
)

// Kustomized returns the objects of the kustomization in a folder.
func (b *Builder) Kustomized(folder string) ([]object.Object, error) {
	return kustomize.Build(b.Files, folder, b.Warnings)
}
