// Package fakes shows how the fakes of client-go and controller-runtime differ from a real API server, and that kubesim behaves like the
// real one.
//
// Each subtest is one probe. Its comment describes the behaviour of client-go's fake clientset, dynamic client or discovery (v0.36), or of
// controller-runtime's fake client (v0.25).
package fakes
