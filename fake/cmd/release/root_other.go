//go:build !linux

package main

import "os/exec"

// imageUser is the user and the group of the image's processes.
const imageUser = 65532

// enterRoot returns an error: the image's command runs on Linux only.
func enterRoot(*exec.Cmd, string) error { return notHere("the image's command needs Linux") }
