package check

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Formats are the formats that Write supports.
var Formats = []string{"text", "json", "sarif", "github"}

// Write writes the report in one of the Formats. It returns an error if the format is unknown or the writer fails.
func (r *Report) Write(w io.Writer, format string) error {
	switch format {
	case "json":
		return writeJSON(w, r)
	case "sarif":
		return writeJSON(w, r.sarif())
	case "github":
		for _, f := range r.Findings {
			if f.Level != Pass {
				r.writeAnnotation(w, f)
			}
		}
		return nil
	case "text":
		for _, f := range r.Findings {
			fmt.Fprintf(w, "%s: %s: %s\n", f.place(), f.Level, r.text(f))
		}
		_, err := fmt.Fprintln(w, r.Summary())
		return err
	}
	return fmt.Errorf("the format %q is not known: the formats are %s", format, strings.Join(Formats, ", "))
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// place returns the file with the line and column, as far as they are known.
func (f *Finding) place() string {
	switch {
	case f.Line == 0:
		return f.File
	case f.Column == 0:
		return fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	return fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
}

// text returns the message with the object, and with the minor versions if it concerns only some of them.
func (r *Report) text(f Finding) string {
	text := f.Message
	if f.Object != "" {
		text = f.Object + ": " + text
	}
	if len(f.Minors) > 0 && len(f.Minors) < len(r.Minors) {
		text += " [" + strings.Join(f.Minors, ", ") + "]"
	}
	return text
}

// Summary returns the numbers of objects and findings.
func (r *Report) Summary() string {
	count := func(level Level) (n int) {
		for _, f := range r.Findings {
			if f.Level == level {
				n++
			}
		}
		return n
	}
	if r.Tests > 0 {
		return fmt.Sprintf("%s on Kubernetes %s: %s", plural(r.Tests, "policy test"), strings.Join(r.Minors, ", "), plural(count(Error), "error"))
	}
	objects := plural(len(r.Answers), "object")
	if r.Imported > 0 {
		objects += " and " + plural(r.Imported, "imported object")
	}
	return fmt.Sprintf("%s on Kubernetes %s: %d refused, %s, %s", objects, strings.Join(r.Minors, ", "), r.Refused,
		plural(count(Error), "error"), plural(count(Warning), "warning"))
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// writeAnnotation writes a finding as a workflow command of GitHub Actions.
func (r *Report) writeAnnotation(w io.Writer, f Finding) {
	level := string(f.Level)
	if f.Level == Note {
		level = "notice"
	}
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	place := "file=" + property.Replace(f.File)
	if f.Line > 0 {
		place += fmt.Sprintf(",line=%d", f.Line)
	}
	if f.Column > 0 {
		place += fmt.Sprintf(",col=%d", f.Column)
	}
	fmt.Fprintf(w, "::%s %s,title=kubesim check::%s\n", level, place, data.Replace(r.text(f)))
}

// sarif returns the report in the format SARIF 2.1.0. The rule of a result is the reason of the server's Status.
func (r *Report) sarif() any {
	type object = map[string]any
	results, rules := []any{}, []any{}
	var ids []string
	for _, f := range r.Findings {
		if f.Level == Pass {
			continue
		}
		id := f.Reason
		if id == "" {
			id = string(f.Level)
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
			rules = append(rules, object{"id": id})
		}
		place := object{"artifactLocation": object{"uri": strings.ReplaceAll(f.File, `\`, "/")}}
		if f.Line > 0 {
			region := object{"startLine": f.Line}
			if f.Column > 0 {
				region["startColumn"] = f.Column
			}
			place["region"] = region
		}
		results = append(results, object{"ruleId": id, "level": f.Level, "message": object{"text": r.text(f)},
			"locations": []any{object{"physicalLocation": place}}})
	}
	return object{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": []any{object{
		"tool":    object{"driver": object{"name": "kubesim check", "informationUri": "https://github.com/kubesim/kubesim", "rules": rules}},
		"results": results}}}
}
