package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// session is a file of testdata/sessions: commands, their output, and the files that they name.
//
//	$ kubectl get deployment web      has to succeed
//	web    0/2     0            0     what it prints, somewhere; that of the next line comes later
//	! kubectl get deployment none     has to fail
//	-- web.yaml --                    a file, up to the next one
type session struct {
	steps []step
	files map[string]string
}

type step struct {
	line    int
	command string
	fails   bool
	prints  []string
}

func readSession(name string) (session, error) {
	text, err := os.ReadFile(filepath.Join("testdata", "sessions", name))
	if err != nil {
		return session{}, err
	}
	s, file := session{files: map[string]string{}}, ""
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		words := strings.Fields(line)
		switch {
		case len(words) == 3 && words[0] == "--" && words[2] == "--":
			file = words[1]
		case file != "":
			s.files[file] += line
		case len(words) == 0 || strings.HasPrefix(line, "#"):
		case words[0] == "$" || words[0] == "!":
			s.steps = append(s.steps, step{line: n, command: strings.TrimSpace(line[1:]), fails: words[0] == "!"})
		default:
			last := &s.steps[len(s.steps)-1]
			last.prints = append(last.prints, strings.TrimSuffix(line, "\n"))
		}
	}
	return s, nil
}

// run runs the session in its own folder. Programs are searched in bin first.
func (s session) run(ctx context.Context, dir, bin string, env []string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for name, text := range s.files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	env = append(env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+dir, "LC_ALL=C", unused())
	var wrong []error
	for _, c := range s.steps {
		out, err := command(ctx, dir, env, "bash", "-o", "pipefail", "-c", c.command)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if complaint := c.complaint(string(out), err); complaint != "" {
			wrong = append(wrong, fmt.Errorf("line %d: %s: %s\n%s", c.line, c.command, complaint, out))
		}
	}
	return errors.Join(wrong...)
}

// complaint returns the error of a step, or "" if the step is as expected.
func (c step) complaint(out string, err error) string {
	switch {
	case err != nil && !c.fails:
		return "it failed"
	case err == nil && c.fails:
		return "it did not fail"
	}
	for _, part := range c.prints {
		var found bool
		if _, out, found = strings.Cut(out, part); !found {
			return fmt.Sprintf("it does not print %q where it should", part)
		}
	}
	return ""
}
