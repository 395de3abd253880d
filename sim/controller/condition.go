package controller

import (
	"time"

	"github.com/kubesim/kubesim/sim/object"
)

// SetCondition sets the status, the reason and the message of a condition, and reports whether any of them changed. Its transition
// time is updated if the status changed.
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
