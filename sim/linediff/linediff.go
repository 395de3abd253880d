// Package linediff computes line diffs between texts.
//
//	a: 1 2 3      ' ' 1
//	b: 1 3 4  ─▶  '-' 2
//	              ' ' 3
//	              '+' 4
//
// API servers' messages contain another kind of diff, that of Python's difflib: see sim/builtin/gotext.
package linediff

import "strings"

// Edit is a line of a diff.
type Edit struct {
	Op   byte // ' ' for a line in both texts, '-' for one only in the old text, '+' for one only in the new text
	Text string
}

// pairsMax limits the memory for a comparison. Texts with more pairs of lines are replaced as a whole.
const pairsMax = 4 << 20

// Lines returns the lines of a text. A newline at the end does not begin another line.
func Lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// Compare returns the shortest diff between two texts. Within a change, removed lines precede added ones.
func Compare(before, after string) []Edit {
	a, b := Lines(before), Lines(after)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	out := appendLines([]Edit{}, ' ', a[:head])
	out = appendMiddle(out, a[head:len(a)-tail], b[head:len(b)-tail])
	return appendLines(out, ' ', a[len(a)-tail:])
}

func appendLines(out []Edit, op byte, lines []string) []Edit {
	for _, l := range lines {
		out = append(out, Edit{op, l})
	}
	return out
}

// appendMiddle appends the diff of two texts, which it computes from their longest common subsequence.
//
//	common[i*(n+1)+j] = length of the longest common subsequence of a[i:] and b[j:]
func appendMiddle(out []Edit, a, b []string) []Edit {
	n := len(b)
	if (len(a)+1)*(n+1) > pairsMax {
		return appendLines(appendLines(out, '-', a), '+', b)
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
			out = append(out, Edit{' ', a[i]})
			i, j = i+1, j+1
		case common[(i+1)*(n+1)+j] >= common[i*(n+1)+j+1]:
			out = append(out, Edit{'-', a[i]})
			i++
		default:
			out = append(out, Edit{'+', b[j]})
			j++
		}
	}
	return appendLines(appendLines(out, '-', a[i:]), '+', b[j:])
}
