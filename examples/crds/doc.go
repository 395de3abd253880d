// Package crds installs the published CustomResourceDefinitions of well-known projects, creates the projects' own sample objects,
// and checks that the projects' own invalid objects are rejected.
//
//	module of the project ──go mod download──▶ module cache ─┬─ CRDs ─────▶ server: Established, served
//	(a pinned version, no requirement of go.mod)              ├─ samples ──▶ created with fieldValidation=Strict
//	                                                          └─ invalid ──▶ rejected with 422
//
// It neither copies files of the projects nor compiles their code. The first run needs a Go module proxy (go env GOPROXY); later
// runs find everything in the module cache (go env GOMODCACHE).
package crds
