package dump

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/fake/stored"
	"github.com/kubesim/kubesim/sim/codec"
	kubejson "github.com/kubesim/kubesim/sim/json"
	"github.com/kubesim/kubesim/sim/object"
)

// text reads a file of YAML documents or of JSON values. JSON values may follow each other without a separator.
func (d *Dump) text(file string, data []byte) error {
	if start := bytes.TrimLeft(data, " \t\r\n"); len(start) > 0 && start[0] == '{' {
		return d.stream(file, data)
	}
	for line, doc := range codec.Documents(data) {
		text, err := codec.YAMLToJSON(doc)
		if err != nil {
			return located(file, line, err)
		}
		if string(bytes.TrimSpace(text)) == "null" {
			continue
		}
		if err := d.value(file, line, text); err != nil {
			return err
		}
	}
	return nil
}

// yamlLine finds the line in an error of the YAML parser, which does not name line 1.
var yamlLine = regexp.MustCompile(`^.*?\byaml: (?:line (\d+): )?`)

// located returns the error of a YAML document with its line in the file. first is the line of the document.
func located(file string, first int, err error) error {
	text := err.Error()
	m := yamlLine.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("%s: %w", place(file, first), err)
	}
	n := 1
	if m[1] != "" {
		n, _ = strconv.Atoi(m[1])
	}
	return fmt.Errorf("%s: %s", place(file, first+n-1), text[len(m[0]):])
}

// logStart and logEnd surround the log of a container in the output of kubectl cluster-info dump.
var (
	logStart = []byte("==== START logs ")
	logEnd   = []byte("\n==== END logs ")
)

// stream reads JSON values that follow each other, and skips logs between them.
func (d *Dump) stream(file string, data []byte) error {
	at, line := 0, 1
	move := func(to int) {
		line += bytes.Count(data[at:to], []byte("\n"))
		at = to
	}
	for {
		rest := bytes.TrimLeft(data[at:], " \t\r\n")
		move(len(data) - len(rest))
		if len(rest) == 0 {
			return nil
		}
		if bytes.HasPrefix(rest, logStart) {
			end := bytes.Index(rest, logEnd)
			if end < 0 {
				return nil
			}
			move(at + end + len(logEnd))
			if n := bytes.IndexByte(data[at:], '\n'); n >= 0 {
				move(at + n)
			} else {
				move(len(data))
			}
			continue
		}
		value, offset, err := firstValue(rest)
		if err != nil {
			move(min(at+offset, len(data)))
			return fmt.Errorf("%s: %w", place(file, line), err)
		}
		if err := d.value(file, line, value); err != nil {
			return err
		}
		move(at + offset)
	}
}

// firstValue returns the first JSON value in data, and the offset of its end, or of an error.
func firstValue(data []byte) (value []byte, offset int, err error) {
	s := kubejson.Scanner{Text: object.Text(data)}
	if s.Skip(); !s.Bad {
		return data[:s.Pos], s.Pos, nil
	}
	in := json.NewDecoder(bytes.NewReader(data)) // it is slower, but has the position of the error
	var raw json.RawMessage
	err = in.Decode(&raw)
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		return nil, int(syntax.Offset), err
	}
	return raw, int(in.InputOffset()), err
}

// list contains the fields of a list.
type list struct {
	Kind, APIVersion string
	Items            *[]json.RawMessage
}

// value reads a JSON value: an object, a list of objects, or a record of k8shark. A value of another kind is added to
// Skipped.
func (d *Dump) value(file string, line int, text []byte) error {
	var l list
	mayBeList := bytes.Contains(text, []byte(`List"`)) // most values are objects, which are parsed only once
	if mayBeList && json.Unmarshal(text, &l) == nil && l.Items != nil && strings.HasSuffix(l.Kind, "List") {
		return d.items(file, line, &l)
	}
	obj, err := object.Parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", place(file, line), err)
	}
	if _, isList := obj["items"]; isList && strings.HasSuffix(obj.Kind(), "List") {
		return nil // its items are null: it is empty
	}
	if obj.Has("api_path") && obj.Has("response_body") {
		d.record(file, line, obj)
		return nil
	}
	if obj.Kind() == "" || obj.APIVersion() == "" {
		d.Skipped = append(d.Skipped, Problem{place(file, line), stored.NoKind})
		return nil
	}
	d.add(Object{JSON: text, File: file, Line: line}, obj)
	return nil
}

// items reads the objects of a list.
func (d *Dump) items(file string, line int, l *list) error {
	for i, text := range *l.Items {
		obj, err := object.Parse(text)
		if err != nil {
			return fmt.Errorf("%s: item %d: %w", place(file, line), i, err)
		}
		if inherit(obj, l.Kind, l.APIVersion) {
			text = object.JSON(map[string]any(obj))
		}
		d.add(Object{JSON: text, File: file, Line: line}, obj)
	}
	return nil
}

// inherit sets the kind and apiVersion of an item that has none from those of its list. It reports whether it did.
func inherit(item object.Object, kind, apiVersion string) bool {
	kind = strings.TrimSuffix(kind, "List")
	if item.Kind() != "" || kind == "" {
		return false
	}
	item["kind"], item["apiVersion"] = kind, apiVersion
	return true
}
