// Package cel is the Common Expression Language as the API server uses it: rules of custom resources
// (x-kubernetes-validations) and expressions of admission policies.
//
// It is a door to two packages: expr, which is what can be said of rules without evaluating them, and celgo, which evaluates
// them with cel-go. cel-go is half of a wasm file. Only this package knows whether it is there: with the build tag nocel
// rules and expressions are refused (door_shut.go).
package cel
