package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/kubesim/kubesim/fake/explore/campaign"
)

// measuredFile has the results of all searches, one per line.
const measuredFile = "measured.jsonl"

// measurement is the result of a search.
type measurement struct {
	Row, Column, Version string
	Seed                 uint64  `json:",omitempty"` // the seed that found the bug; 0 if a plan or no seed did
	Failure              string  `json:",omitempty"` // the first line of the failure; empty if nothing was found
	Runs                 int     // the number of drawn plans that were run
	CPU                  float64 // seconds, including those for shrinking the plan and repeating it
	Report               string  `json:",omitempty"`
}

type measurements []measurement

// find returns the result of a search, or nil.
func (list measurements) find(row, column string) *measurement {
	for i := range list {
		if list[i].Row == row && list[i].Column == column {
			return &list[i]
		}
	}
	return nil
}

// measured reads the results of earlier searches.
func measured() (list measurements, err error) {
	data, err := os.ReadFile(measuredFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for line := range bytes.Lines(data) {
		var m measurement
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, fmt.Errorf("%s: %w", measuredFile, err)
		}
		list = append(list, m)
	}
	return list, err
}

// addResults adds the results that Explore has written to a file (KUBESIM_RESULTS).
func (m *measurement) addResults(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(data) {
		var l campaign.Line
		if err := json.Unmarshal(line, &l); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if l.Failure != "" {
			m.Seed, m.Failure = l.Seed, l.Failure
		}
		if l.Done {
			m.Runs = l.Runs
		}
	}
	return nil
}

// add appends the result to the file.
func (m measurement) add() error {
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(measuredFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}

// tableMark precedes the part of README.md that writeReadme writes.
const tableMark = "<!-- make operators writes from here -->\n"

// reportsDir is the folder for the reports of failed searches.
const reportsDir = "reports"

// writeReadme writes the table, and the reports to files of their own.
func writeReadme() error {
	list, err := measured()
	if err != nil {
		return err
	}
	data, err := os.ReadFile("README.md")
	if err != nil {
		return err
	}
	text, _, found := strings.Cut(string(data), tableMark)
	if !found {
		return fmt.Errorf("README.md does not have the line %s", strings.TrimSpace(tableMark))
	}
	if err := errors.Join(os.RemoveAll(reportsDir), os.MkdirAll(reportsDir, 0o755)); err != nil {
		return err
	}
	var table strings.Builder
	table.WriteString("| row | operator | bug | kind | directed | after the fix | blind | seeds | CPU s | after the fix | lines |\n" +
		"|---|---|---|---|---|---|---|---:|---:|---|---:|\n")
	for _, r := range rows {
		if err := r.write(&table, list); err != nil {
			return err
		}
	}
	return os.WriteFile("README.md", []byte(text+tableMark+"\n"+table.String()), 0o644)
}

// write writes the row's line of the table, and its reports.
func (r row) write(table *strings.Builder, list measurements) error {
	user, err := os.ReadFile(r.operator + "/operator_test.go")
	if err != nil {
		return err
	}
	seedsRun, cpu := "", ""
	if blind := list.find(r.name, blindColumn); blind != nil {
		seedsRun, cpu = fmt.Sprint(blind.Runs), fmt.Sprintf("%.0f", blind.CPU)
	}
	var cells []any
	for _, column := range columns {
		cell, err := list.find(r.name, column).cell(r.instead[column])
		if err != nil {
			return err
		}
		cells = append(cells, cell)
	}
	version := r.bad
	if r.fixed != "" {
		version += ", fixed in " + r.fixed
	}
	fmt.Fprintf(table, "| `%s` | %s %s | %s (%s) | %s | %s | %s | %s | %s | %s | %s | %d |\n", r.name, r.operator, version, r.bug, r.issue, r.kind,
		cells[0], cells[1], cells[2], seedsRun, cpu, cells[3], bytes.Count(user, []byte("\n")))
	return nil
}

// cell returns the cell of the table for the result of a search, which may have found something else instead. If there is a report, the
// cell links to its file, which cell writes.
func (m *measurement) cell(instead string) (string, error) {
	result := "not found"
	switch {
	case m == nil:
		return "—", nil
	case m.Failure == "" && strings.HasSuffix(m.Column, afterColumn):
		result = "passes"
		if m.Runs > 0 {
			result = fmt.Sprintf("none in %d seeds", m.Runs)
		}
	case m.Failure != "" && instead != "":
		result = "found instead: " + instead
	case m.Failure != "":
		result = "found"
	}
	if m.Report == "" {
		return result, nil
	}
	file := fmt.Sprintf("%s/%s-%s.txt", reportsDir, m.Row, strings.ReplaceAll(m.Column, " ", "-"))
	return fmt.Sprintf("[%s](%s)", result, file), os.WriteFile(file, []byte(m.Report+"\n"), 0o644)
}
