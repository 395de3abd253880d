// Package linediff finds the lines in which two texts differ.
//
//	a: 1 2 3      ' ' 1
//	b: 1 3 4  ─▶  '-' 2
//	              ' ' 3
//	              '+' 4
//
// The messages of API servers have a comparison of their own, that of Python's difflib: sim/builtin/gotext.
package linediff

import "strings"

// Edit is a line that both texts have, or that one of them has.
type Edit struct {
	Op   byte // ' ', '-' for a line of the old text alone, '+' for one of the new text alone
	Text string
}

// pairsMax bounds the table of a comparison: texts with more pairs of lines are wholly replaced.
const pairsMax = 4 << 20

// Lines returns the lines of a text. A line break at the end does not begin a line.
func Lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// Compare returns the shortest list of removed and added lines that leads from one text to the other. Within a change removed lines
// come first.
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

// appendMiddle appends the difference of two texts by their longest common subsequence.
//
//	common[i*(n+1)+j] = length of the longest one of a[i:] and b[j:]
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
