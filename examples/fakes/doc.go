// Package fakes goes through what the fakes of client-go and controller-runtime do differently from a real API server,
// and shows that kubesim does what the real one does.
//
// Each subtest is one probe. Its comment says what client-go's fake clientset, dynamic client or discovery (v0.36), or
// controller-runtime's fake client (v0.25), do instead.
package fakes
