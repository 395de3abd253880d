package shell

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

func echo(p *Process) int {
	args, end := p.Argv, "\n"
	if len(args) > 0 && args[0] == "-n" {
		args, end = args[1:], ""
	}
	p.Printf("%s%s", strings.Join(args, " "), end)
	return 0
}

// inputs returns the content of files, or stdin if no file is named.
func (p *Process) inputs(tool string, files []string) (text string, code int) {
	if len(files) == 0 {
		return string(p.Stdin), 0
	}
	for _, name := range files {
		data, err := p.ReadFile(name)
		if err != nil {
			fmt.Fprintf(p.Err, "%s: %s: %s\n", tool, name, fileError(err))
			code = 1
		}
		text += string(data)
	}
	return text, code
}

func cat(p *Process) int {
	text, code := p.inputs("cat", p.Argv)
	p.Printf("%s", text)
	return code
}

// base64Text writes its input in base64, in lines of 76 characters or as many as -w says; with -d it reads that.
func base64Text(p *Process) int {
	args := p.Argv
	for i, a := range args {
		switch {
		case a == "--decode":
			args[i] = "-d"
		case strings.HasPrefix(a, "--wrap="):
			args[i] = "-w" + strings.TrimPrefix(a, "--wrap=")
		case strings.HasPrefix(a, "--"):
			fmt.Fprintf(p.Err, "base64: unrecognized option '%s'\nTry 'base64 --help' for more information.\n", a)
			return 1
		}
	}
	flags, files := options(args, "w")
	text, code := p.inputs("base64", files)
	if flags['d'] != nil {
		plain, err := base64.StdEncoding.DecodeString(text)
		p.Printf("%s", plain)
		if err != nil {
			fmt.Fprintln(p.Err, "base64: invalid input")
			return 1
		}
		return code
	}
	width := 76
	if w := flags['w']; len(w) > 0 {
		n, err := strconv.Atoi(w[0])
		if err != nil || n < 0 {
			fmt.Fprintf(p.Err, "base64: invalid wrap size: ‘%s’\n", w[0])
			return 1
		}
		width = n
	}
	out := base64.StdEncoding.EncodeToString([]byte(text))
	for ; width > 0 && len(out) > width; out = out[width:] {
		p.Printf("%s\n", out[:width])
	}
	p.Printf("%s", out)
	if width > 0 && out != "" {
		p.Printf("\n")
	}
	return code
}
