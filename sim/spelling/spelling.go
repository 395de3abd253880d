// Package spelling guesses which name a misspelt word was meant to be.
package spelling

import "strings"

// Nearest returns the name that text was perhaps meant to be: one that fewer than three changes lead to. "" if there is none.
func Nearest(text string, names []string) string {
	best, least := "", 3
	for _, name := range names {
		if d := Distance(text, name); d < least && d < len(name) {
			best, least = name, d
		}
	}
	return best
}

// Distance is how many characters have to be put in, taken out or changed to get from a to b (Levenshtein).
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}

// Meant returns the end of an error about a name that does not exist: the nearest name, or all.
func Meant(text string, names []string) string {
	if best := Nearest(text, names); best != "" {
		return "; did you mean " + best + "?"
	}
	return "; there are " + strings.Join(names, ", ")
}
