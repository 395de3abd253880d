package controller

import (
	"time"

	"github.com/kubesim/kubesim/sim/object"
)

// SetCondition makes a condition of an object say something, and reports whether it did not before. Its time is when its
// status changed.
func SetCondition(obj object.Object, now time.Time, kind, value, reason, message string) (changed bool) {
	c := obj.Condition(kind)
	if c == nil {
		c = object.Object{"type": kind}
		obj.Set(append(obj.List("status", "conditions"), map[string]any(c)), "status", "conditions")
	}
	if c.String("status") == value && c.String("reason") == reason && c.String("message") == message {
		return false
	}
	if c.String("status") != value {
		c["lastTransitionTime"] = object.Time(now)
	}
	c["status"], c["reason"], c["message"] = value, reason, message
	return true
}
