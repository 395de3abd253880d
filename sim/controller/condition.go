package controller

import (
	"time"

	"github.com/kubesim/kubesim/sim/object"
)

// Condition returns a condition of an object, or nil.
func Condition(obj object.Object, kind string) object.Object {
	for _, c := range obj.Objects("status", "conditions") {
		if c.String("type") == kind {
			return c
		}
	}
	return nil
}

// SetCondition makes a condition of an object say something, and reports whether it did not before. Its time is when its
// status changed.
func SetCondition(obj object.Object, now time.Time, kind, value, reason, message string) (changed bool) {
	c := Condition(obj, kind)
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
