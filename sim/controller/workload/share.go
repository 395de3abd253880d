package workload

import (
	"strconv"
	"strings"
)

// Share is a number, or a percentage of a whole that is rounded by math.Ceil or math.Floor (intstr.GetScaledValueFromIntOrPercent).
func Share(v any, whole int64, round func(float64) float64) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case string:
		percent, _ := strconv.ParseInt(strings.TrimSuffix(v, "%"), 10, 64)
		return int64(round(float64(percent) * float64(whole) / 100))
	}
	return 0
}
