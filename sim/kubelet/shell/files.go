package shell

import (
	"path"
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

func touch(p *process, args []string) int {
	for _, name := range args {
		if _, ok := p.read(name); !ok {
			empty := ""
			p.files[name] = &empty
		}
	}
	return 0
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
		p.files[name] = nil
	}
	return code
}

// ls prints the names of existing files. With -d it prints any folder, because folders are not recorded.
func ls(p *process, args []string) int {
	args, has := operands(args)
	for _, name := range args {
		if _, ok := p.read(name); ok || has("d") {
			p.print(name + "\n")
		} else {
			p.complain("ls: " + name + ": No such file or directory")
			return 1
		}
	}
	return 0
}

// operands returns the arguments of a command that are no flags, and whether a flag of one letter is there.
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

// into returns the target of a file that is moved or copied. A name that ends in a slash, or that of a folder in every image, is a
// folder.
func into(from, to string) string {
	if strings.HasSuffix(to, "/") || to == "/tmp" || to == "." {
		return path.Join(to, path.Base(from))
	}
	return to
}

func mv(p *process, args []string) int {
	names, has := operands(args)
	code := transfer(p, "mv", names, func(from, to string) {
		p.files[from] = nil
		if has("v") {
			p.print("'" + from + "' -> '" + to + "'\n")
		}
	})
	return code
}

// cp is ln, too: nothing shows that two files are one.
func cp(p *process, args []string) int {
	names, _ := operands(args)
	return transfer(p, "cp", names, func(string, string) {})
}

// transfer copies the contents of all files but the last to the last one, and calls then for each.
func transfer(p *process, command string, names []string, then func(from, to string)) (code int) {
	if len(names) < 2 {
		p.complain(command + ": missing file operand")
		return 1
	}
	last := names[len(names)-1]
	for _, from := range names[:len(names)-1] {
		text, ok := p.read(from)
		if !ok {
			p.complain(command + ": can't " + map[string]string{"mv": "rename", "cp": "stat"}[command] + " '" + from + "': No such file or directory")
			code = 1
			continue
		}
		to := into(from, last)
		p.files[to] = &text
		then(from, to)
	}
	return code
}

// dd copies its input unchanged: if=FILE of=FILE.
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
	} else {
		p.files[to] = &text
	}
	return 0
}

// find prints its arguments that exist: files, and folders that any image has.
func find(p *process, args []string) int {
	for _, name := range args {
		if strings.HasPrefix(name, "-") {
			break
		}
		p.print(name + "\n")
	}
	return 0
}
