package main

import (
	"os"
	"os/exec"
	"syscall"
)

// imageUser is the user and the group of the image's processes.
const imageUser = 65532

// enterRoot makes a command see a folder as /, as the image's user. Without root this takes a user namespace.
func enterRoot(cmd *exec.Cmd, root string) error {
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: imageUser, Gid: imageUser}
		return nil
	}
	cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
	cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: imageUser, HostID: os.Geteuid(), Size: 1}}
	cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: imageUser, HostID: os.Getegid(), Size: 1}}
	return nil
}
