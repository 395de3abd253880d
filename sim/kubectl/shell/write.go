package shell

import "strings"

// mkdir does nothing: a folder exists when a file is in it.
func mkdir(*Process) int { return 0 }

// printf prints its first argument with \n and \t replaced. It does not format the others.
func printf(p *Process) int {
	if len(p.Argv) == 1 {
		p.Printf("%s", strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(p.Argv[0]))
		return 0
	}
	p.Complain("printf: only a text without arguments is simulated")
	return 1
}

// copyFile copies a file to a name or into a folder.
func copyFile(p *Process) int {
	if len(p.Argv) != 2 {
		p.Complain("cp: only cp FILE FILE is simulated")
		return 1
	}
	from, to := p.Argv[0], p.Argv[1]
	data, err := p.ReadFile(from)
	if err == nil {
		if folder := strings.TrimSuffix(to, "/"); folder != to || p.Names(folder) != nil {
			to = folder + from[strings.LastIndexByte("/"+from, '/'):]
		}
		err = p.Files.WriteFile(to, data)
	}
	if err != nil {
		p.Complain("cp: cannot stat '%s': No such file or directory", from)
		return 1
	}
	return 0
}
