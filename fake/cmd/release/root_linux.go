package main

import (
	"os"
	"os/exec"
	"syscall"
)

// imageUser is the ID of the user and group of the image's processes.
const imageUser = 65532

// enterRoot makes a command run as the image's user, with a directory as its root. If this process is not root, that requires a
// user namespace.
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
