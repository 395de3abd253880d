package check

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Level is the severity of a Finding.
type Level string

// The levels. An Error means that the server refuses the object, or that a file cannot be read. A Pass is a policy test that has
// passed.
const (
	Pass    Level = "pass"
	Error   Level = "error"
	Warning Level = "warning"
	Note    Level = "note"
)

// Finding is a message about an object or a file.
type Finding struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"` // from 1; 0 if unknown
	Column  int    `json:"column,omitempty"`
	Level   Level  `json:"level"`
	Object  string `json:"object,omitempty"` // kind and name
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
	// Reason is the reason of the server's Status, such as Invalid.
	Reason string `json:"reason,omitempty"`
	// Minors are the minor versions of the servers that returned the message. It is empty if the message is not from a server.
	Minors []string `json:"minors,omitempty"`
}

// same reports whether two findings are the same, except for their minor versions.
func (f *Finding) same(g Finding) bool {
	return f.File == g.File && f.Line == g.Line && f.Column == g.Column && f.Level == g.Level && f.Object == g.Object && f.Message == g.Message
}

// finding returns a Finding at a field of the object.
func (o *Object) finding(level Level, field, message string) Finding {
	line, column := o.position(field, false)
	return Finding{File: o.File, Line: line, Column: column, Level: level, Object: o.title(), Field: field, Message: message}
}

var (
	strictError = regexp.MustCompile(`(?:unknown|duplicate) field "([^"]+)"`)
	repeatedKey = regexp.MustCompile(`line (\d+): (key ".*" already set in map)`)
	goField     = regexp.MustCompile(`Go struct field \w+\.(\S+) of type`)
	fieldAhead  = regexp.MustCompile(`^\.?[a-z]\w*(?:[.\[]\S*)?: `)
)

// findings returns the findings in a server's response to the creation of the object: an error for each cause of a refusal, and a
// warning for each warning.
func (o *Object) findings(v *Verdict) (all []Finding) {
	for _, text := range v.Warnings {
		if line, ok := o.repeated(text); ok {
			all = append(all, Finding{File: o.File, Line: line, Column: 1, Level: Warning, Object: o.title(), Message: text})
			continue
		}
		all = append(all, o.finding(Warning, o.fieldIn(text), text))
	}
	if !v.refused() {
		return all
	}
	begin := len(all)
	switch {
	case len(v.causes) > 0 && !slices.ContainsFunc(v.causes, func(c cause) bool { return c.field == "" }):
		for _, c := range v.causes {
			all = append(all, o.finding(Error, c.field, c.field+": "+c.message))
		}
	case strings.Contains(v.Message, "strict decoding error: "):
		for _, m := range repeatedKey.FindAllStringSubmatch(v.Message, -1) {
			line, _ := o.repeated(m[0])
			all = append(all, Finding{File: o.File, Line: line, Column: 1, Level: Error, Object: o.title(), Message: m[2]})
		}
		for _, m := range strictError.FindAllStringSubmatch(v.Message, -1) {
			f := o.finding(Error, m[1], m[0])
			f.Line, f.Column = o.position(m[1], true)
			all = append(all, f)
		}
	}
	if len(all) == begin {
		all = append(all, o.finding(Error, o.fieldIn(v.Message), v.Message))
	}
	for i := range all[begin:] {
		all[begin+i].Reason = v.Reason
	}
	return all
}

// repeated returns the line in the object's file at which a key is repeated. ok is false if text is not a message about a repeated
// key.
func (o *Object) repeated(text string) (line int, ok bool) {
	m := repeatedKey.FindStringSubmatch(text)
	if m == nil || o.doc == nil {
		return 0, false
	}
	n, _ := strconv.Atoi(m[1])
	return o.doc.line + n - 1, true
}

// fieldIn returns the path of the field that a message is about. If the message does not name a field, it returns that of the
// object's name.
func (o *Object) fieldIn(text string) string {
	for _, re := range []*regexp.Regexp{strictError, goField} {
		if m := re.FindStringSubmatch(text); m != nil {
			return m[1]
		}
	}
	if ahead := strings.TrimSuffix(fieldAhead.FindString(text), ": "); o.Has(firstName(ahead)) {
		return ahead
	}
	if strings.Contains(text, " is deprecated") || strings.HasPrefix(text, "no matches for kind ") {
		return "apiVersion"
	}
	if strings.HasPrefix(text, "namespaces ") {
		return "metadata.namespace"
	}
	return "metadata.name"
}
