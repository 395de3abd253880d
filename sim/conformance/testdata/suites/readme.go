package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/conformance/testdata/suites/gotest"
)

// heads are the columns of the table in a README.
var heads = []string{"suite", "specs", "real: pass, fail, skip, vary", "the same here", "the same in virtual time", "real, s", "kubesim, s", "virtual, s"}

// cells returns the columns of a row. A column that was not measured is "".
func (r row) cells() []string {
	c := r.count()
	there := c.there
	cells := []string{fmt.Sprintf(r.title, r.version()), fmt.Sprint(c.stable + there[gotest.Varies]),
		fmt.Sprintf("%d, %d, %d, %d", there[gotest.Pass], there[gotest.Fail], there[gotest.Skip], there[gotest.Varies]), "", "", r.real.time(), r.kubesim.time(), r.virtual.time()}
	if r.kubesim != nil {
		cells[3] = share(c.kubesim, c.stable)
	}
	if r.virtual != nil {
		cells[4] = share(c.virtual, c.stable)
	}
	return cells
}

// share writes how many of all specs are the same.
func share(same, all int) string {
	if same == all {
		return "all"
	}
	return fmt.Sprintf("%d of %d", same, all)
}

// updateReadme replaces the measured columns of the rows in the table of a file. A suite without a row gets one.
func updateReadme(file string, rows []row) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	first := slices.Index(lines, line(heads))
	if first < 0 {
		return errors.New(file + " has no line " + line(heads))
	}
	end := first + 2
	for end < len(lines) && strings.HasPrefix(lines[end], "|") {
		end++
	}
	for _, r := range rows {
		cells := r.cells()
		i := slices.IndexFunc(lines[first:end], func(l string) bool { return strings.HasPrefix(l, "| "+cells[0]+" |") })
		if i < 0 {
			lines = slices.Insert(lines, end, line(cells))
			end++
			continue
		}
		before := strings.Split(strings.Trim(lines[first+i], "| "), "|")
		for n := range cells {
			if cells[n] == "" && n < len(before) {
				cells[n] = strings.TrimSpace(before[n])
			}
		}
		lines[first+i] = line(cells)
	}
	return os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o644)
}

// line is a line of a Markdown table.
func line(cells []string) string { return "| " + strings.Join(cells, " | ") + " |" }
