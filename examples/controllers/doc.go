// Package controllers shows how to test controllers with kubesim: a controller-runtime manager with its cache, and leader election.
// Everything runs in testing/synctest bubbles, where waiting takes no time.
package controllers
