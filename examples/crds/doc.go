// Package crds installs the CustomResourceDefinitions of well-known projects as they publish them, creates the
// projects' own sample objects, and lets their rules refuse the projects' own invalid ones.
//
//	module of the project ──go mod download──▶ module cache ─┬─ CRDs ─────▶ server: Established, served
//	(a pinned version, no requirement of go.mod)              ├─ samples ──▶ created with fieldValidation=Strict
//	                                                          └─ invalid ──▶ refused with 422
//
// Nothing of the projects is copied here, and no code of theirs is compiled. The first run needs a Go module proxy
// (go env GOPROXY); later ones find everything in the module cache (go env GOMODCACHE).
package crds
