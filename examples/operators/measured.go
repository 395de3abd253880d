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

// writeReadme writes the table and the reports.
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
	var table, reports strings.Builder
	table.WriteString("| row | operator | bug | kind | directed | blind | seeds | CPU s | after the fix | lines |\n|---|---|---|---|---|---|---:|---:|---|---:|\n")
	for _, r := range rows {
		if err := r.write(&table, &reports, list); err != nil {
			return err
		}
	}
	return os.WriteFile("README.md", []byte(text+tableMark+"\n"+table.String()+reports.String()), 0o644)
}

// write writes the row's line of the table, and its report.
func (r row) write(table, reports *strings.Builder, list measurements) error {
	user, err := os.ReadFile(r.operator + "/operator_test.go")
	if err != nil {
		return err
	}
	seedsRun, cpu := "", ""
	blind := list.find(r.name, "blind")
	if blind != nil {
		seedsRun, cpu = fmt.Sprint(blind.Runs), fmt.Sprintf("%.0f", blind.CPU)
	}
	after := list.find(r.name, "after")
	passes := after.result()
	if after != nil && after.Failure == "" {
		passes = fmt.Sprintf("none in %d seeds (%s)", after.Runs, r.fixed)
	}
	fmt.Fprintf(table, "| `%s` | %s %s | %s (%s) | %s | %s | %s | %s | %s | %s | %d |\n", r.name, r.operator, r.bad, r.bug, r.issue, r.kind,
		list.find(r.name, "directed").result(), blind.result(), seedsRun, cpu, passes, bytes.Count(user, []byte("\n")))
	for _, m := range []*measurement{blind, list.find(r.name, "directed")} {
		if m != nil && m.Report != "" {
			fmt.Fprintf(reports, "\n## %s, %s\n\n```text\n%s\n```\n", r.name, m.Column, m.Report)
		}
	}
	return nil
}

// result returns the word in the table for the result of a search.
func (m *measurement) result() string {
	switch {
	case m == nil:
		return "—"
	case m.Failure == "":
		return "not found"
	}
	return "found"
}
