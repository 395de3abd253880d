package crd

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/webhook"
)

// IsTrue reports whether a condition of a definition has the status True.
func IsTrue(crd object.Object, kind string) bool {
	return crd.Condition(kind).String("status") == "True"
}

// SetCondition sets a condition of a definition. It changes lastTransitionTime only if the status changes.
func SetCondition(crd object.Object, now time.Time, kind, status, reason, message string) {
	c := crd.Condition(kind)
	if c == nil {
		c = object.Object{"type": kind}
		crd.Set(append(crd.List("status", "conditions"), map[string]any(c)), "status", "conditions")
	}
	if c.String("status") != status || c.String("lastTransitionTime") == "" {
		c["lastTransitionTime"] = object.Time(now)
	}
	c["status"], c["reason"], c["message"] = status, reason, message
}

// Names accepts those names of a definition that no other definition in its group uses. It sets the conditions
// NamesAccepted and Established, and reports whether anything changed. others contains all definitions.
func Names(crd object.Object, others []object.Object, now time.Time) bool {
	want, have := crd.At("spec", "names"), crd.At("status", "acceptedNames")
	if object.SemanticEqual(map[string]any(want), map[string]any(have)) {
		return false
	}
	n := &naming{want: want, have: have, accepted: object.Object{}, resources: map[string]bool{}, kinds: map[string]bool{}}
	maps.Copy(n.accepted, have)
	n.collect(crd, others)
	n.decide()
	status, reason, message := "True", "NoConflicts", "no conflicts found"
	if n.reason != "" {
		status, reason, message = "False", n.reason, n.message
	}
	before := crd.Condition(NamesAccepted)
	same := before.String("status") == status && before.String("reason") == reason && before.String("message") == message
	if same && object.SemanticEqual(map[string]any(n.accepted), map[string]any(have)) {
		return false
	}
	crd.Set(map[string]any(n.accepted), "status", "acceptedNames")
	SetCondition(crd, now, NamesAccepted, status, reason, message)
	switch established := crd.Condition(Established); {
	case established.String("status") != "True" && status == "True":
		SetCondition(crd, now, Established, "False", "Installing", "the initial names have been accepted")
	case established == nil:
		SetCondition(crd, now, Established, "False", "NotAccepted", "not all names are accepted")
	}
	return true
}

// naming compares the names that a definition requests with those in use.
type naming struct {
	want, have, accepted object.Object
	resources, kinds     map[string]bool // accepted names of the other definitions of the group
	reason, message      string          // reason and message of the last conflict
}

func (n *naming) collect(crd object.Object, others []object.Object) {
	for _, o := range others {
		if group(o) != group(crd) || o.Name() == crd.Name() {
			continue
		}
		n.use(o.At("status", "acceptedNames"))
	}
	n.use(n.have)
}

// use marks the names as used by another definition.
func (n *naming) use(names object.Object) {
	for _, name := range append(names.Strings("shortNames"), names.String("plural"), names.String("singular")) {
		n.resources[name] = true
	}
	n.kinds[names.String("kind")], n.kinds[names.String("listKind")] = true, true
}

func (n *naming) decide() {
	n.one("plural", "PluralConflict", n.resources)
	n.one("singular", "SingularConflict", n.resources)
	n.short()
	n.one("kind", "KindConflict", n.kinds)
	n.one("listKind", "ListKindConflict", n.kinds)
	if categories, ok := n.want["categories"]; ok {
		n.accepted["categories"] = categories
	} else {
		delete(n.accepted, "categories")
	}
}

func (n *naming) one(name, reason string, used map[string]bool) {
	want := n.want.String(name)
	if want != n.have.String(name) && used[want] {
		n.reason, n.message = reason, strconv.Quote(want)+" is already in use"
		return
	}
	n.accepted[name] = want
}

func (n *naming) short() {
	want, have := n.want.Strings("shortNames"), n.have.Strings("shortNames")
	var texts []string
	for _, name := range want {
		if !slices.Contains(have, name) && n.resources[name] {
			texts = append(texts, strconv.Quote(name)+" is already in use")
		}
	}
	switch {
	case len(texts) > 0:
		n.reason, n.message = "ShortNamesConflict", texts[0]
		if len(texts) > 1 {
			n.message = "[" + strings.Join(texts, ", ") + "]"
		}
	case len(want) > 0:
		n.accepted["shortNames"] = object.FromStrings(want)
	default:
		delete(n.accepted, "shortNames")
	}
}

// Establish sets the condition Established if the names are accepted: to False if the CA bundle of the conversion webhook
// cannot be loaded, and otherwise to True. It reports whether anything changed.
func Establish(crd object.Object, now time.Time) bool {
	if !IsTrue(crd, NamesAccepted) || IsTrue(crd, Established) {
		return false
	}
	if webhook.CheckBundle(bundle(crd)) != nil {
		if crd.Condition(Established).String("reason") == "InvalidCABundle" {
			return false
		}
		SetCondition(crd, now, Established, "False", "InvalidCABundle", "The conversion webhook CABundle is invalid")
		return true
	}
	SetCondition(crd, now, Established, "True", "InitialNamesAccepted", "the initial names have been accepted")
	return true
}

// bundle returns the PEM-encoded CA bundle of a conversion webhook.
func bundle(crd object.Object) []byte {
	return webhook.Bundle(crd.At("spec", "conversion", "webhook", "clientConfig"))
}

// unresolved reports whether it is impossible to create a client for the conversion webhook of a definition. Unlike Establish,
// it treats a bundle that contains only whitespace as missing.
func unresolved(crd object.Object) bool {
	pem := bytes.TrimSpace(bundle(crd))
	return crd.String("spec", "conversion", "strategy") == "Webhook" && webhook.CheckBundle(pem) != nil
}

// Served reports whether the objects of a definition are accessible.
func Served(crd object.Object) bool { return IsTrue(crd, NamesAccepted) || IsTrue(crd, Established) }

// Approval sets the condition that states whether an API is approved. Only APIs in the groups of the Kubernetes community need
// approval. It reports whether anything changed.
func Approval(crd object.Object, now time.Time) bool {
	const kind = "KubernetesAPIApprovalPolicyConformant"
	if !protected(group(crd)) {
		return false
	}
	text := crd.Annotations()[approvedAnnotation]
	status, reason, message := "False", "", ""
	switch approvalState(text) {
	case "missing":
		reason, message = "MissingAnnotation", approvalMissing
	case "invalid":
		reason, message = "InvalidAnnotation", approvalInvalid
	case "approved":
		status, reason, message = "True", "ApprovedAnnotation", "approved in "+text
	default:
		reason, message = "UnapprovedAnnotation", "not approved: "+strconv.Quote(text)
	}
	c := crd.Condition(kind)
	if c.String("status") == status && c.String("reason") == reason && c.String("message") == message {
		return false
	}
	SetCondition(crd, now, kind, status, reason, message)
	return true
}
