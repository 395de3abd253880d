package shell

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/manifest"
)

// Typed is one line of a pasted text, with the files of its here-documents.
type Typed struct {
	Line  string
	Files map[string]string
}

// Paste splits a text that was pasted at a prompt into lines. A here-document becomes a file, named by the object that it
// holds, and the line names that file; a manifest without a command becomes a file that is applied.
//
//	kubectl apply -f - <<EOF        kubectl apply -f configmap-paint.yaml
//	kind: ConfigMap …
//	EOF
func Paste(text string) (out []Typed) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "apiVersion:") || strings.HasPrefix(trimmed, "kind:") ||
		strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "---") {
		name := fileName(text)
		return []Typed{{"kubectl apply -f " + name, map[string]string{name: strings.TrimRight(text, "\n") + "\n"}}}
	}
	r := &reader{strings.Split(text, "\n")}
	for len(r.lines) > 0 {
		l, err := r.next(func(line string) string { return strings.TrimPrefix(strings.TrimSpace(line), "$ ") })
		switch {
		case err != nil || len(l.words) > 0 && len(l.docs) == 0:
			out = append(out, Typed{Line: l.text})
		case len(l.docs) > 0:
			out = append(out, withFile(l))
		}
	}
	return out
}

// withFile makes a file of the here-document of a line.
func withFile(l line) Typed {
	at := slices.IndexFunc(l.words, isDocument)
	before, after := strings.TrimSpace(l.text[:l.words[at].From]), strings.TrimSpace(l.text[l.words[at+1].To:])
	rest := slices.Delete(slices.Clone(l.words), at, at+2)
	doc := l.docs[0]
	name := fileName(doc)
	text := before + " < " + name + " " + after
	switch {
	case len(rest) == 0: // no command reads it
		text = "echo wrote " + name
	case rest[0].Text == "cat" && len(rest) == 3 && rest[1].Sign && rest[1].Text == ">":
		name = rest[2].Text
		text = "echo wrote " + name
	case rest[0].Text == "cat":
		text = "cat " + name + " " + after
	case strings.Contains(before+" ", " -f - "):
		text = strings.TrimSpace(strings.Replace(before+" ", " -f - ", " -f "+name+" ", 1)) + " " + after
	}
	return Typed{strings.TrimSpace(text), map[string]string{name: doc}}
}

// fileName returns the name for the file of a text: the kind and the name of its first object.
func fileName(text string) string {
	list, err := manifest.Read("", []byte(text))
	if err != nil || len(list) == 0 || list[0].Kind() == "" {
		return "pasted.txt"
	}
	name := strings.ToLower(list[0].Kind())
	if n := list[0].Name(); n != "" {
		name += "-" + n
	}
	return name + ".yaml"
}
