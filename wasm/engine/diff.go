package engine

import "github.com/kubesim/kubesim/sim/linediff"

// diffLine is one line of a difference: op is " " for a line that both have, "-" for one of the old text only and "+"
// for one of the new text only.
type diffLine struct {
	Op   string `json:"op"`
	Text string `json:"text"`
}

// diff returns the lines of two texts as the shortest list of removed and added lines.
func diff(before, after string) []diffLine {
	return each(linediff.Compare(before, after), func(e linediff.Edit) diffLine { return diffLine{string(e.Op), e.Text} })
}
