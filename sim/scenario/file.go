package scenario

import (
	"fmt"
	"slices"
	"strings"
)

// File is a scenario as a text file: a story, the operations, the files that they use, and the expected transcript.
//
//	# Two clients read the same revision. Both write; the second write is refused.     Story
//
//	# Alice and Bob read.                                                              a phase: a comment and the
//	get cm a --as alice                                                                operations below it
//	get cm a --as bob
//
//	# Bob is faster.
//	replace -f a.yaml --rv last --as bob
//	! replace -f a.yaml --rv last --as alice
//	expect status 409 Conflict
//
//	-- a.yaml --                                                                       Files
//	…
//	-- transcript --                                                                   Transcript, written by the runner
//	…
//	hash: …
//
// The format is that of txtar: a line -- NAME -- begins a file.
type File struct {
	Story      string // the first paragraph, without # signs
	Lines      []Line
	Files      map[string]string
	Transcript string // "" if none was recorded

	script string   // the original text before the first file
	order  []string // the names of the files, in their order
}

// Line is one line with an operation.
type Line struct {
	Number int // counted from 1
	Text   string
	Op     Op
	Phase  string // the comment above the line, or ""
}

// transcriptName is the name of the file with the transcript, and scriptName stands for the text before the first file.
const transcriptName, scriptName = "transcript", ""

// Limits for a file from an untrusted source.
const (
	maxFile  = 1 << 20
	maxLines = 5000
)

// ParseFile parses a scenario. Its errors contain the line and the column.
func ParseFile(data []byte) (*File, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("the scenario has %d bytes; at most %d are read", len(data), maxFile)
	}
	f := &File{Files: map[string]string{}}
	name := scriptName
	for line := range strings.Lines(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data))) {
		next, ok := marker(line)
		if !ok {
			f.Files[name] += line
			continue
		}
		if name = next; slices.Contains(f.order, name) {
			return nil, fmt.Errorf("there are two files %s; give one another name", name)
		}
		f.order = append(f.order, name)
		f.Files[name] = ""
	}
	f.script, f.Transcript = f.Files[scriptName], f.Files[transcriptName]
	delete(f.Files, scriptName)
	delete(f.Files, transcriptName)
	f.order = slices.DeleteFunc(f.order, func(name string) bool { return name == transcriptName })
	return f, f.parseScript()
}

// marker returns the name in a line -- NAME --. It returns false for other lines.
func marker(line string) (name string, ok bool) {
	line = strings.TrimRight(line, "\n")
	if !strings.HasPrefix(line, "-- ") || !strings.HasSuffix(line, " --") || len(line) < len("-- x --") {
		return "", false
	}
	name = strings.TrimSpace(line[len("-- ") : len(line)-len(" --")])
	return name, name != ""
}

// parseScript parses the story and the operations.
func (f *File) parseScript() error {
	phase, story := "", true
	var comment []string
	for i, text := range strings.Split(f.script, "\n") {
		line := strings.TrimSpace(text)
		if said, ok := strings.CutPrefix(line, "#"); ok {
			comment = append(comment, strings.TrimSpace(said))
			continue
		}
		if line == "" {
			if story && len(comment) > 0 {
				f.Story = strings.Join(comment, "\n")
				comment, story = nil, false
			}
			continue
		}
		if len(comment) > 0 {
			if story && len(f.Lines) == 0 && len(comment) > 0 { // if no blank line follows the story, it is also the first phase
				f.Story = strings.Join(comment, "\n")
			}
			phase, comment = strings.Join(comment, "\n"), nil
		}
		story = false
		op, err := Parse(text)
		if err != nil {
			return fmt.Errorf("line %d, %w", i+1, err)
		}
		if len(f.Lines) == maxLines {
			return fmt.Errorf("line %d: there are more than %d operations", i+1, maxLines)
		}
		f.Lines = append(f.Lines, Line{Number: i + 1, Text: line, Op: op, Phase: phase})
	}
	return nil
}

// Format returns the text of the file, which ParseFile can parse again. The script and the files are unchanged; the transcript is
// last.
func (f *File) Format() []byte {
	var b strings.Builder
	b.WriteString(ending(f.script))
	for _, name := range f.order {
		fmt.Fprintf(&b, "-- %s --\n%s", name, ending(f.Files[name]))
	}
	if f.Transcript != "" {
		fmt.Fprintf(&b, "-- %s --\n%s", transcriptName, ending(f.Transcript))
	}
	return []byte(b.String())
}

// ending returns the text with a line break at its end, unless it is empty.
func ending(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}
