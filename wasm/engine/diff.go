package engine

import "github.com/kubesim/kubesim/sim/linediff"

// diffLine is a line of a diff: op is " " for a line in both texts, "-" for a line only in the old text, and "+" for a line only in
// the new text.
type diffLine struct {
	Op   string `json:"op"`
	Text string `json:"text"`
}

// diff returns the lines of the shortest diff between two texts.
func diff(before, after string) []diffLine {
	return each(linediff.Compare(before, after), func(e linediff.Edit) diffLine { return diffLine{string(e.Op), e.Text} })
}
