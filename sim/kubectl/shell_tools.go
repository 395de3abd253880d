package kubectl

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"
)

func echo(s *Session, args []string, _ []byte) int {
	end := "\n"
	if len(args) > 0 && args[0] == "-n" {
		args, end = args[1:], ""
	}
	s.printf("%s%s", strings.Join(args, " "), end)
	return 0
}

func sleep(s *Session, args []string, _ []byte) int {
	for _, a := range args {
		if _, err := strconv.ParseFloat(a, 64); err == nil {
			a += "s"
		}
		d, err := time.ParseDuration(a)
		if err != nil {
			fmt.Fprintf(s.Err, "sleep: invalid time interval '%s'\n", a)
			return 1
		}
		s.Conn.Sleep(d)
	}
	return 0
}

// inputs returns what files hold, or the input where none is named.
func (s *Session) inputs(tool string, files []string, input []byte) (text string, code int) {
	if len(files) == 0 {
		return string(input), 0
	}
	s.stdin = input
	for _, name := range files {
		data, err := s.readFile(name)
		if err != nil {
			fmt.Fprintf(s.Err, "%s: %s: %s\n", tool, name, fileError(err))
			code = 1
		}
		text += string(data)
	}
	return text, code
}

func cat(s *Session, args []string, input []byte) int {
	text, code := s.inputs("cat", args, input)
	s.printf("%s", text)
	return code
}

// base64Text writes its input in base64, in lines of 76 characters or as many as -w says; with -d it reads that.
func base64Text(s *Session, args []string, input []byte) int {
	for i, a := range args {
		switch {
		case a == "--decode":
			args[i] = "-d"
		case strings.HasPrefix(a, "--wrap="):
			args[i] = "-w" + strings.TrimPrefix(a, "--wrap=")
		case strings.HasPrefix(a, "--"):
			fmt.Fprintf(s.Err, "base64: unrecognized option '%s'\nTry 'base64 --help' for more information.\n", a)
			return 1
		}
	}
	flags, files := options(args, "w")
	text, code := s.inputs("base64", files, input)
	if flags['d'] != nil {
		plain, err := base64.StdEncoding.DecodeString(text)
		s.printf("%s", plain)
		if err != nil {
			fmt.Fprintln(s.Err, "base64: invalid input")
			return 1
		}
		return code
	}
	width := 76
	if w := flags['w']; len(w) > 0 {
		n, err := strconv.Atoi(w[0])
		if err != nil || n < 0 {
			fmt.Fprintf(s.Err, "base64: invalid wrap size: ‘%s’\n", w[0])
			return 1
		}
		width = n
	}
	out := base64.StdEncoding.EncodeToString([]byte(text))
	for ; width > 0 && len(out) > width; out = out[width:] {
		s.printf("%s\n", out[:width])
	}
	s.printf("%s", out)
	if width > 0 && out != "" {
		s.printf("\n")
	}
	return code
}
