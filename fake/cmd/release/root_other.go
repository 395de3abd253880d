//go:build !linux

package main

import "os/exec"

// imageUser is the ID of the user and group of the image's processes.
const imageUser = 65532

// enterRoot returns an error, because the image's command runs only on Linux.
func enterRoot(*exec.Cmd, string) error { return notHere("the image's command needs Linux") }
