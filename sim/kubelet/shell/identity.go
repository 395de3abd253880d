package shell

import (
	"path"
	"strconv"
	"strings"
)

func hostname(p *process, _ []string) int {
	p.print(p.vars["HOSTNAME"] + "\n")
	return 0
}

func whoami(p *process, _ []string) int {
	if p.world.User != 0 {
		p.complain("whoami: unknown uid " + strconv.FormatInt(p.world.User, 10))
		return 1
	}
	p.print("root\n")
	return 0
}

// id prints the ids of the user and the group, or one of them with -u or -g.
func id(p *process, args []string) int {
	_, has := operands(args)
	user, group := strconv.FormatInt(p.world.User, 10), strconv.FormatInt(p.world.Group, 10)
	switch {
	case has("u"):
		p.print(user + "\n")
	case has("g"):
		p.print(group + "\n")
	default:
		p.print("uid=" + user + " gid=" + group + " groups=" + group + "\n")
	}
	return 0
}

// set supports only -e and -o errexit, and +e and +o errexit.
func set(p *process, args []string) int {
	on := false
	for _, x := range args {
		if x == "--" {
			break
		}
		if strings.HasPrefix(x, "-") || strings.HasPrefix(x, "+") {
			on = x[0] == '-'
			x = strings.TrimLeft(x, "-+abcfhmnuvxCEHPT") // an e may follow other flags
			if strings.HasPrefix(x, "e") {
				p.strict = on
			}
		} else if x == "errexit" {
			p.strict = on
		}
	}
	return 0
}

// mount prints only the mount of cgroup v2, which programs use to locate the files with the container's limits.
func mount(p *process, _ []string) int {
	p.print("cgroup on /sys/fs/cgroup type cgroup2 (ro,nosuid,nodev,noexec,relatime)\n")
	return 0
}

func pwd(p *process, _ []string) int {
	p.print(path.Join("/", p.folder) + "\n")
	return 0
}

// cd does not check that the folder exists, because the folders of images are unknown.
func cd(p *process, args []string) int {
	if len(args) == 0 {
		args = []string{p.vars["HOME"]}
	}
	p.folder = path.Join("/", p.folder, args[0])
	if path.IsAbs(args[0]) {
		p.folder = path.Clean(args[0])
	}
	return 0
}
