package flowcontrol

import (
	"fmt"
	"strconv"

	"github.com/kubesim/kubesim/sim/object"
)

// Field managers of what API servers write to flow schemas and priority levels.
const (
	Producer = "api-priority-and-fairness-config-producer-v1"
	Consumer = "api-priority-and-fairness-config-consumer-v1"
)

// autoUpdate reports whether a server may restore the spec of an object that it created.
const autoUpdate = "apf.kubernetes.io/autoupdate-spec"

// Dangling returns the condition that a FlowSchema has to have, given whether its priority level is stored. It reports
// false when it has it (presyncFlowSchemaStatus).
func Dangling(schema object.Object, found bool) (condition map[string]any, changes bool) {
	status, reason, text := "True", "NotFound", "but there is no such object"
	if found {
		status, reason, text = "False", "Found", "and it exists"
	}
	message := fmt.Sprintf("This FlowSchema references the PriorityLevelConfiguration object named %q %s", Level(schema), text)
	for _, c := range schema.Objects("status", "conditions") {
		if c.String("type") == "Dangling" && c.String("status") == status && c.String("reason") == reason && c.String("message") == message {
			return nil, false
		}
	}
	return map[string]any{"type": "Dangling", "status": status, "reason": reason, "message": message}, true
}

// Level returns the name of the priority level that a FlowSchema refers to.
func Level(schema object.Object) string {
	return schema.String("spec", "priorityLevelConfiguration", "name")
}

// Revise restores the fields that API servers maintain in an object that they have created: the spec of a mandatory one always. The
// spec of another one is restored unless its annotation forbids it, or, if there is no annotation, the object has been changed
// (ensurer.ReviseIfNeeded). Revise reports whether it changed anything.
func Revise(current, made object.Object) bool {
	said, err := strconv.ParseBool(current.Annotations()[autoUpdate])
	update := current.Name() == exempt || current.Name() == catchAll
	if !update {
		update = said && err == nil || err != nil && current.Generation() == 1
	}
	changed := false
	if err != nil || said != update {
		current.Set(strconv.FormatBool(update), "metadata", "annotations", autoUpdate)
		changed = true
	}
	if update && !object.SemanticEqual(current["spec"], made["spec"]) {
		current["spec"] = object.Copy(made["spec"])
		changed = true
	}
	return changed
}

// Unwanted reports whether an object is annotated as created by servers but is not one of theirs: it is to be deleted.
func Unwanted(o object.Object) bool {
	said, err := strconv.ParseBool(o.Annotations()[autoUpdate])
	return err == nil && said
}
