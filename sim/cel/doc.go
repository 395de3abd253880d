// Package cel is the Common Expression Language as the API server uses it: rules of custom resources
// (x-kubernetes-validations) and expressions of admission policies.
//
// It wraps two packages: expr, which has everything about rules that does not need evaluation, and celgo, which evaluates them with
// cel-go. cel-go is half of a wasm file. Only this package depends on its presence: with the build tag nocel rules and expressions
// are refused (unlinked.go).
package cel
