// Package controller is the controller of sealed-secrets under fake.Explore. The fields that its main sets are not exported: make
// operators copies the files of the package here.
package controller
