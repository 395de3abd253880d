package shell

import "strings"

// word parses a word.
func (x *parser) word() (w word, err error) {
	for x.at < len(x.text) && strings.IndexByte(" \t\r\n;|&<>()", x.text[x.at]) < 0 {
		switch c := x.text[x.at]; c {
		case '\'':
			end := strings.IndexByte(x.text[x.at+1:], '\'')
			if end < 0 {
				return nil, errUnknown
			}
			w = append(w, piece{text: x.text[x.at+1 : x.at+1+end], quoted: true})
			x.at += end + 2
		case '"':
			x.at++
			if w, err = x.quoted(w); err != nil {
				return nil, err
			}
		case '$', '`':
			p, err := x.dollar(false)
			if err != nil {
				return nil, err
			}
			w = append(w, p)
		case '\\':
			if x.at++; x.at < len(x.text) {
				w = append(w, piece{text: x.text[x.at : x.at+1], quoted: true})
				x.at++
			}
		default:
			end := strings.IndexAny(x.text[x.at:], " \t\r\n;|&<>()'\"$`\\")
			if end < 0 {
				end = len(x.text) - x.at
			}
			w = append(w, piece{text: x.text[x.at : x.at+end]})
			x.at += end
		}
	}
	if w == nil && (x.at >= len(x.text) || strings.IndexByte(" \t\r\n;", x.text[x.at]) < 0) {
		return nil, errUnknown
	}
	return w, nil
}

// quoted parses the contents of double quotes.
func (x *parser) quoted(w word) (word, error) {
	text := []byte{}
	for x.at < len(x.text) {
		switch c := x.text[x.at]; c {
		case '"':
			x.at++
			return append(w, piece{text: string(text), quoted: true}), nil
		case '$', '`':
			w = append(w, piece{text: string(text), quoted: true})
			text = text[:0]
			p, err := x.dollar(true)
			if err != nil {
				return nil, err
			}
			w = append(w, p)
		case '\\':
			if x.at+1 < len(x.text) && strings.IndexByte("\"\\$`\n", x.text[x.at+1]) >= 0 {
				x.at++
			}
			text = append(text, x.text[x.at])
			x.at++
		default:
			text = append(text, c)
			x.at++
		}
	}
	return nil, errUnknown
}

// dollar parses $NAME, ${NAME}, $((…)), $(…) or `…`.
func (x *parser) dollar(quoted bool) (piece, error) {
	p := piece{kind: variable, quoted: quoted}
	switch {
	case x.has("`"):
		end := strings.IndexByte(x.text[x.at+1:], '`')
		if end < 0 {
			return p, errUnknown
		}
		inner, err := Parse(x.text[x.at+1 : x.at+1+end])
		if err != nil {
			return p, err
		}
		x.at += end + 2
		p.kind, p.script = substitution, inner.list
		return p, nil
	case x.has("$(("):
		end := strings.Index(x.text[x.at:], "))")
		if end < 0 {
			return p, errUnknown
		}
		p.kind, p.text = arithmetic, x.text[x.at+3:x.at+end]
		x.at += end + 2
		return p, nil
	case x.has("$("):
		x.at += 2
		l, err := x.list()
		if err != nil || !x.has(")") {
			return p, errUnknown
		}
		x.at++
		p.kind, p.script = substitution, l
		return p, nil
	case x.has("${"):
		x.at += 2
		if p.text = x.name(); p.text == "" || !x.has("}") {
			return p, errUnknown
		}
		x.at++
		return p, nil
	}
	x.at++
	if x.has("?") || x.has("$") {
		p.text = x.text[x.at : x.at+1]
		x.at++
		return p, nil
	}
	if p.text = x.name(); p.text == "" {
		p.kind, p.text = literal, "$"
	}
	return p, nil
}

// name parses the name of a variable. It returns "" if there is none.
func (x *parser) name() string {
	start := x.at
	for x.at < len(x.text) {
		c := x.text[x.at]
		letter := c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (x.at == start || c < '0' || c > '9') {
			break
		}
		x.at++
	}
	return x.text[start:x.at]
}
