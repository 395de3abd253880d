package discovery

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// acceptable returns the first offered media type that an Accept header allows, or "" if it allows none of them. The OpenAPI
// endpoints parse this header themselves: a clause is a media type, type/* or */*, and clauses are tried in the order of their
// weights. If there is no header, it returns the first type. Parameters such as those of application/json;as=Table are ignored.
func acceptable(header string, offered ...string) string {
	type clause struct {
		media  string
		weight float64
	}
	var clauses []clause
	for text := range strings.SplitSeq(cmp.Or(header, "*/*"), ",") {
		parts := strings.Split(text, ";")
		c := clause{strings.TrimSpace(parts[0]), 1}
		for _, p := range parts[1:] {
			if q, ok := strings.CutPrefix(strings.TrimSpace(p), "q="); ok {
				c.weight, _ = strconv.ParseFloat(q, 32)
			}
		}
		clauses = append(clauses, c)
	}
	slices.SortStableFunc(clauses, func(a, b clause) int { return cmp.Compare(b.weight, a.weight) })
	for _, c := range clauses {
		for _, media := range offered {
			kind, _, _ := strings.Cut(media, "/")
			if c.media == media || c.media == kind+"/*" || c.media == "*/*" {
				return media
			}
		}
	}
	return ""
}

// acceptsGzip reports whether an Accept-Encoding header allows gzip. If star is true, "*" allows it, too; server libraries differ
// in this.
func acceptsGzip(header string, star bool) bool {
	for text := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(text, ";")
		name = strings.TrimSpace(name)
		q, weighted := strings.CutPrefix(strings.TrimSpace(params), "q=")
		weight, err := strconv.ParseFloat(q, 32)
		if (name == "gzip" || star && name == "*") && (!weighted || err == nil && weight > 0) {
			return true
		}
	}
	return false
}
