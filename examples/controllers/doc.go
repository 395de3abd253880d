// Package controllers shows controllers against kubesim: a controller-runtime manager with its cache, and leader
// election. Everything runs in testing/synctest bubbles, where waiting costs nothing.
package controllers
