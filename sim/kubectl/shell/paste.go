package shell

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/manifest"
)

// Typed is a line of pasted text, with the files that replace its here-documents.
type Typed struct {
	Line  string
	Files map[string]string
}

// Paste splits text that was pasted at a prompt into lines. Each here-document becomes a file that is named after the object in
// it, and the line refers to that file. A manifest without a command becomes a file that is applied.
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

// withFile replaces the here-document of a line with a file.
func withFile(l line) Typed {
	at := slices.IndexFunc(l.words, isDocument)
	before, after := strings.TrimSpace(l.text[:l.words[at].From]), strings.TrimSpace(l.text[l.words[at+1].To:])
	rest := slices.Delete(slices.Clone(l.words), at, at+2)
	doc := l.docs[0]
	name := fileName(doc)
	text := before + " < " + name + " " + after
	switch {
	case len(rest) == 0: // no command reads the document
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

// fileName returns a file name for a manifest, from the kind and name of its first object.
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
