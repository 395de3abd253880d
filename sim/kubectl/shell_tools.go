package kubectl

import (
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
