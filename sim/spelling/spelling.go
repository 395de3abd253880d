// Package spelling suggests corrections for misspelt names.
package spelling

import "strings"

// Nearest returns the name that is most similar to text, or "" if all of them differ in three or more characters.
func Nearest(text string, names []string) string {
	best, least := "", 3
	for _, name := range names {
		if d := Distance(text, name); d < least && d < len(name) {
			best, least = name, d
		}
	}
	return best
}

// Distance returns the Levenshtein distance between a and b in bytes.
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

// Meant returns the end of an error message about an unknown name. It either suggests the nearest name or lists all names.
func Meant(text string, names []string) string {
	if best := Nearest(text, names); best != "" {
		return "; did you mean " + best + "?"
	}
	return "; there are " + strings.Join(names, ", ")
}
