package kubectl

import "strings"

// Typed is one line of what was pasted, and the files that its here-documents have become.
type Typed struct {
	Line  string
	Files map[string]string
}

// Paste takes several lines apart that were pasted at a prompt. A here-document becomes a file, named by the object that it
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
	lines := strings.Split(text, "\n")
	for len(lines) > 0 {
		line := strings.TrimPrefix(strings.TrimSpace(lines[0]), "$ ")
		lines = lines[1:]
		for strings.HasSuffix(line, "\\") && len(lines) > 0 {
			line, lines = strings.TrimSuffix(line, "\\")+strings.TrimSpace(lines[0]), lines[1:]
		}
		tokens, err := tokenize(line)
		if err != nil || len(tokens) == 0 {
			if line != "" && err != nil {
				out = append(out, Typed{Line: line})
			}
			continue
		}
		var docs []*string
		if docs, lines, err = hereDocuments(tokens, lines); err != nil || len(docs) == 0 {
			out = append(out, Typed{Line: line})
			continue
		}
		out = append(out, withFile(line, *docs[0]))
	}
	return out
}

// withFile makes a file of the here-document of a line.
func withFile(line, doc string) Typed {
	at := strings.Index(line, "<<")
	tag := strings.TrimLeft(line[at:], "<- ")
	end := strings.IndexAny(tag, " \t|>")
	if end < 0 {
		end = len(tag)
	}
	before, after := strings.TrimSpace(line[:at]), strings.TrimSpace(tag[end:])
	name := fileName(doc)
	words := strings.Fields(before + " " + after)
	switch {
	case len(words) == 0: // nobody reads it
		return Typed{"echo wrote " + name, map[string]string{name: doc}}
	case words[0] == "cat" && len(words) == 3 && words[1] == ">":
		name = words[2]
		return Typed{"echo wrote " + name, map[string]string{name: doc}}
	case words[0] == "cat":
		return Typed{strings.TrimSpace("cat " + name + " " + after), map[string]string{name: doc}}
	case strings.Contains(before+" ", " -f - "):
		before = strings.TrimSpace(strings.Replace(before+" ", " -f - ", " -f "+name+" ", 1))
		return Typed{strings.TrimSpace(before + " " + after), map[string]string{name: doc}}
	}
	return Typed{strings.TrimSpace(before + " < " + name + " " + after), map[string]string{name: doc}}
}

// fileName is what the file of a text is called: by the kind and the name of its first object.
func fileName(text string) string {
	list, err := split("", []byte(text))
	if err != nil || len(list) == 0 || list[0].Kind() == "" {
		return "pasted.txt"
	}
	name := strings.ToLower(list[0].Kind())
	if n := list[0].Name(); n != "" {
		name += "-" + n
	}
	return name + ".yaml"
}
