package engine

import "strings"

// diffLine is one line of a difference: op is " " for a line that both have, "-" for one of the old text only and "+"
// for one of the new text only.
type diffLine struct {
	Op   string `json:"op"`
	Text string `json:"text"`
}

// diffMax bounds the table of a difference: texts with more pairs of lines are shown as wholly replaced.
const diffMax = 4 << 20

// diff returns the lines of two texts as the shortest list of removed and added lines. Within a change removed lines
// come first.
func diff(before, after string) []diffLine {
	a, b := splitLines(before), splitLines(after)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	out := appendLines([]diffLine{}, " ", a[:head])
	out = appendMiddle(out, a[head:len(a)-tail], b[head:len(b)-tail])
	return appendLines(out, " ", a[len(a)-tail:])
}

func appendLines(out []diffLine, op string, lines []string) []diffLine {
	for _, l := range lines {
		out = append(out, diffLine{op, l})
	}
	return out
}

// appendMiddle appends the difference of two texts by their longest common subsequence.
//
//	common[i*(n+1)+j] = length of the longest one of a[i:] and b[j:]
func appendMiddle(out []diffLine, a, b []string) []diffLine {
	n := len(b)
	if (len(a)+1)*(n+1) > diffMax {
		return appendLines(appendLines(out, "-", a), "+", b)
	}
	common := make([]int32, (len(a)+1)*(n+1))
	for i := len(a) - 1; i >= 0; i-- {
		for j := n - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i*(n+1)+j] = common[(i+1)*(n+1)+j+1] + 1
			} else {
				common[i*(n+1)+j] = max(common[(i+1)*(n+1)+j], common[i*(n+1)+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) && j < n {
		switch {
		case a[i] == b[j]:
			out = append(out, diffLine{" ", a[i]})
			i, j = i+1, j+1
		case common[(i+1)*(n+1)+j] >= common[i*(n+1)+j+1]:
			out = append(out, diffLine{"-", a[i]})
			i++
		default:
			out = append(out, diffLine{"+", b[j]})
			j++
		}
	}
	return appendLines(appendLines(out, "-", a[i:]), "+", b[j:])
}

// splitLines returns the lines of a text; a text that ends with a line break has no empty last line.
func splitLines(text string) []string {
	text = strings.TrimSuffix(text, "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
