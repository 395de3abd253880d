package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// result is the result of the last run of a row.
type result struct{ name, version, verdict string }

const file = "results.txt" // a line per row: name, version, verdict, with tabs between them

// write merges new results into the existing ones, and writes the results and their table.
func (f flags) write(fresh map[string]result) error {
	known, err := readResults()
	if err != nil {
		return err
	}
	var text, table strings.Builder
	table.WriteString("| client or program | version | result |\n|---|---|---|\n")
	for _, r := range rows {
		last, ok := fresh[r.name]
		if !ok {
			last, ok = known[r.name]
		}
		if ok {
			fmt.Fprintf(&text, "%s\t%s\t%s\n", last.name, last.version, last.verdict)
			fmt.Fprintf(&table, "| %s | %s | %s |\n", last.name, last.version, last.verdict)
		}
	}
	return errors.Join(os.WriteFile(file, []byte(text.String()), 0o644), f.replace("compat", table.String()))
}

// replace replaces the table of COMPATIBILITY.md that "make TARGET" writes.
func (f flags) replace(target, table string) error {
	begins, ends := "<!-- "+target+": make "+target+" writes this table -->\n", "<!-- end of "+target+" -->\n"
	document, err := os.ReadFile(f.readme)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(document), begins)
	_, after, ended := strings.Cut(rest, ends)
	if !ok || !ended {
		return fmt.Errorf("%s has no lines %q and %q", f.readme, begins, ends)
	}
	return os.WriteFile(f.readme, []byte(before+begins+table+ends+after), 0o644)
}

func readResults() (map[string]result, error) {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	known := map[string]result{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 {
			return nil, fmt.Errorf("%s: what is %q?", file, line)
		}
		known[fields[0]] = result{fields[0], fields[1], fields[2]}
	}
	return known, nil
}
