// Package cel implements the API server's uses of the Common Expression Language: rules of custom resources
// (x-kubernetes-validations) and expressions of admission policies.
//
// It wraps two packages: expr, which implements everything that does not require evaluation, and celgo, which evaluates rules
// and expressions with cel-go. Because cel-go makes up half of a wasm file, it can be excluded with the build tag nocel. Rules
// and expressions are then rejected (unlinked.go). Only this package and the
// view dump of wasm/engine depend on the tag.
package cel
