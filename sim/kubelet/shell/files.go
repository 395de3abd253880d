package shell

import (
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"strings"
)

func cat(p *process, args []string) int {
	code := 0
	if len(args) == 0 {
		p.print(p.in)
	}
	for _, name := range args {
		if text, ok := p.read(name); ok {
			p.print(text)
		} else {
			p.complain("cat: can't open '" + name + "': No such file or directory")
			code = 1
		}
	}
	return code
}

func touch(p *process, args []string) (code int) {
	for _, name := range args {
		_, exists := p.read(name)
		if p.isReadOnly(p.path(name)) || !exists && !p.write(name, "") {
			p.complain("touch: " + name + ": Read-only file system")
			code = 1
		}
	}
	return code
}

func remove(p *process, args []string) int {
	force, code := false, 0
	for _, name := range args {
		if strings.HasPrefix(name, "-") {
			force = force || strings.Contains(name, "f")
			continue
		}
		if _, ok := p.read(name); !ok && !force {
			p.complain("rm: can't remove '" + name + "': No such file or directory")
			code = 1
		}
		if p.isReadOnly(p.path(name)) {
			p.complain("rm: can't remove '" + name + "': Read-only file system")
			code = 1
			continue
		}
		p.files[p.path(name)] = nil
	}
	return code
}

// folders are the directories that every image contains. Their files are not simulated.
var folders = []string{"/", ".", "/bin", "/dev", "/etc", "/home", "/lib", "/opt", "/proc", "/root", "/run", "/sbin", "/srv", "/sys", "/tmp", "/usr", "/var"}

// ls prints the names of existing files. With -d it prints every name, because folders are not recorded. In a folder of the image it prints
// the files that the container has written, and says that it knows no others.
func ls(p *process, args []string) int {
	args, has := operands(args)
	if len(args) == 0 {
		args = []string{"."}
	}
	for _, name := range args {
		if _, ok := p.read(name); ok || has("d") {
			p.print(name + "\n")
		} else if p.isFolder(name) {
			if has("a") {
				p.print(".\n..\n")
			}
			for _, child := range p.children(name) {
				p.print(child + "\n")
			}
			folder := path.Clean(p.path(name))
			if _, mounted := p.world.Mounts[folder]; !mounted && slices.Contains(folders, folder) && folder != "/tmp" { // which is empty in an image
				p.complain("ls: " + name + ": the files of an image are not simulated")
			}
		} else {
			p.complain("ls: " + name + ": No such file or directory")
			return 1
		}
	}
	return 0
}

// operands returns the arguments of a command that are not flags, and a function that reports whether a one-letter flag is given.
func operands(args []string) (names []string, has func(flag string) bool) {
	flags := ""
	for _, x := range args {
		if len(x) > 1 && x[0] == '-' {
			flags += x[1:]
		} else {
			names = append(names, x)
		}
	}
	return names, func(flag string) bool { return strings.Contains(flags, flag) }
}

// into returns the path to which the file at from is moved or copied. to is a directory if it ends in a slash, or if it is /tmp or the
// current directory.
func into(from, to string) string {
	if strings.HasSuffix(to, "/") || to == "/tmp" || to == "." {
		return path.Join(to, path.Base(from))
	}
	return to
}

func mv(p *process, args []string) int {
	names, has := operands(args)
	code := transfer(p, "mv", names, func(from, to string) {
		p.files[p.path(from)] = nil
		if has("v") {
			p.print("'" + from + "' -> '" + to + "'\n")
		}
	})
	return code
}

// cp also implements ln, because nothing can observe that two names refer to the same file.
func cp(p *process, args []string) int {
	names, _ := operands(args)
	return transfer(p, "cp", names, func(string, string) {})
}

// transfer copies files to the last operand, and calls then after each copy. It returns the exit code of the named command.
func transfer(p *process, command string, names []string, then func(from, to string)) (code int) {
	if len(names) < 2 {
		p.complain(command + ": missing file operand")
		return 1
	}
	last := names[len(names)-1]
	var sources []string
	for _, pattern := range names[:len(names)-1] {
		sources = append(sources, p.matches(pattern)...)
	}
	for _, from := range sources {
		text, ok := p.read(from)
		if !ok && !p.mayBeInImage(from) {
			p.complain(command + ": can't " + map[string]string{"mv": "rename", "cp": "stat"}[command] + " '" + from + "': No such file or directory")
			code = 1
			continue
		}
		to := into(from, last)
		if !p.write(to, text) {
			p.complain(command + ": can't create '" + to + "': Read-only file system")
			code = 1
			continue
		}
		then(from, to)
	}
	return code
}

// dd implements the command dd. It copies a file or its input unchanged, and supports only if=FILE and of=FILE.
func dd(p *process, args []string) int {
	text, to := p.in, ""
	for _, x := range args {
		switch name, value, _ := strings.Cut(x, "="); name {
		case "if":
			from, ok := p.read(value)
			if !ok && !strings.HasPrefix(value, "/dev/") {
				p.complain("dd: can't open '" + value + "': No such file or directory")
				return 1
			}
			text = from
		case "of":
			to = value
		}
	}
	if to == "" {
		p.print(text)
	} else if !p.write(to, text) {
		p.complain("dd: can't open '" + to + "': Read-only file system")
		return 1
	}
	return 0
}

// stat prints facts about existing files, with the directives %a, %g, %n, %s and %u of -c. All files have the mode 644.
func stat(p *process, args []string) (code int) {
	if len(args) < 3 || args[0] != "-c" || strings.Contains(statDirectives.Replace(args[1]), "%") {
		p.complain("stat: only stat -c FORMAT FILE is simulated, with %a, %g, %n, %s and %u in FORMAT")
		return 1
	}
	for _, name := range args[2:] {
		text, ok := p.read(name)
		if !ok {
			p.complain("stat: can't stat '" + name + "': No such file or directory")
			code = 1
			continue
		}
		user, group := p.owner(name)
		p.print(strings.NewReplacer("%a", "644", "%g", number(int(group)), "%n", name, "%s", number(len(text)), "%u", number(int(user))).Replace(args[1]) + "\n")
	}
	return code
}

// statDirectives removes the directives that stat implements from a format.
var statDirectives = strings.NewReplacer("%a", "", "%g", "", "%n", "", "%s", "", "%u", "")

// owner returns the user id and the group id of a file. The process owns the files that it has written. Root owns all other files.
// Files in volumes have the pod's fsGroup.
func (p *process) owner(name string) (user, group int64) {
	if _, written := p.files[p.path(name)]; written {
		user, group = p.world.User, p.world.Group
	}
	if p.world.FSGroup != 0 && p.inVolume(name) {
		group = p.world.FSGroup
	}
	return user, group
}

// sha256sum prints the checksums of files. With -c it checks those in files.
func sha256sum(p *process, args []string) (code int) {
	names, has := operands(args)
	text, ok := p.input("sha256sum", names)
	switch {
	case !ok:
		return 1
	case !has("c") && len(names) == 0:
		p.print(fmt.Sprintf("%x  -\n", sha256.Sum256([]byte(text))))
	case !has("c"):
		for _, name := range names {
			text, _ := p.read(name)
			p.print(fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(text)), name))
		}
	default:
		for line := range strings.Lines(text) {
			sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
			if text, ok := p.read(name); ok && sum == fmt.Sprintf("%x", sha256.Sum256([]byte(text))) {
				p.print(name + ": OK\n")
			} else {
				p.print(name + ": FAILED\n")
				code = 1
			}
		}
	}
	return code
}

// find prints its arguments up to the first flag, as if they were existing files.
func find(p *process, args []string) int {
	for _, name := range args {
		if strings.HasPrefix(name, "-") {
			break
		}
		p.print(name + "\n")
	}
	return 0
}
