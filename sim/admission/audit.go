package admission

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/patch"
)

// annotationMax is the maximum length of the value of an audit annotation that a policy specifies.
const annotationMax = 10 * 1024

// annotations contains the values of the audit annotations that validating policies specify, by key.
type annotations map[string][]string

// add adds v, the result of a valueExpression, which is a string, or null for no annotation. If several bindings yield the same
// value, it is added once.
func (n annotations) add(key string, v any) {
	text, _ := v.(string)
	if text = strings.TrimSpace(text); len(text) > annotationMax {
		text = text[:annotationMax]
	}
	if text != "" && !slices.Contains(n[key], text) {
		n[key] = append(n[key], text)
	}
}

// publish copies the annotations to the audit event of a write.
func (n annotations) publish(a *Attributes) {
	for _, key := range object.SortedKeys(n) {
		a.Annotate(key, strings.Join(n[key], ", "))
	}
}

// annotate adds a violation of a policy to the audit event of a write.
func (p *problem) annotate(a *Attributes, binding object.Object) {
	a.Annotate("validation.policy.admission.k8s.io/validation_failure", encode([]any{struct {
		Message           string   `json:"message"`
		Policy            string   `json:"policy"`
		Binding           string   `json:"binding"`
		ExpressionIndex   int      `json:"expressionIndex"`
		ValidationActions []string `json:"validationActions"`
	}{p.text, p.policy.name, binding.Name(), p.index, binding.Strings("spec", "validationActions")}}))
}

// annotate adds an annotation about the call to the audit event of a write. about is the first part of its key.
func (c *call) annotate(a *Attributes, about, value string) {
	round := 0
	if a.second {
		round = 1
	}
	a.Annotate(fmt.Sprintf("%s.webhook.admission.k8s.io/round_%d_index_%d", about, round, c.index), value)
}

// configuration returns the name of the webhook's configuration.
func (h *webhook) configuration() string { return strings.TrimSuffix(h.key, "/"+h.name) }

// mutation returns the value of the audit annotation that records whether a mutating webhook changed the object.
func (h *webhook) mutation(changed bool) string {
	return encode(struct {
		Configuration string `json:"configuration"`
		Webhook       string `json:"webhook"`
		Mutated       bool   `json:"mutated"`
	}{h.configuration(), h.name, changed})
}

// patched returns the value of the audit annotation that contains the patch of a mutating webhook.
func (h *webhook) patched(ops patch.JSONOperations) string {
	return encode(struct {
		Configuration string               `json:"configuration"`
		Webhook       string               `json:"webhook"`
		Patch         patch.JSONOperations `json:"patch,omitempty"`
		PatchType     string               `json:"patchType,omitempty"`
	}{h.configuration(), h.name, ops, "JSONPatch"})
}

// encode returns the JSON of v, which must be a value that encoding/json accepts.
func encode(v any) string {
	text, _ := json.Marshal(v) // cannot fail for such a value
	return string(text)
}
