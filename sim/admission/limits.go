package admission

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// limitRanges is the storage name of LimitRanges.
const limitRanges = "limitranges"

// limitAnnotation lists the fields that the plugin LimitRanger has set in a pod.
const limitAnnotation = "kubernetes.io/limit-ranger"

// limited reports whether LimitRanges apply to the write.
func (a *Attributes) limited() bool {
	if a.Old != nil && a.Old.DeletionTimestamp() != "" {
		return false
	}
	switch {
	case a.Definition.Storage == pods && a.Subresource == "resize":
		return a.Operation == Update
	case a.Definition.Storage == claims:
		return a.about(claims, Create, Update)
	}
	return a.about(pods, Create)
}

// limitsOf returns the limits of a LimitRange for objects of the type kind, such as Container.
func limitsOf(limitRange object.Object, kind string) []object.Object {
	return slices.DeleteFunc(limitRange.Objects("spec", "limits"), func(limit object.Object) bool { return limit.String("type") != kind })
}

// setLimits sets the requests and limits that containers do not specify (Kubernetes documentation, "Limit Ranges").
func setLimits(a *Attributes) *status.Status {
	if !a.limited() || a.Definition.Storage != pods {
		return nil
	}
	for _, r := range a.Objects.All(limitRanges, a.Namespace) {
		requests, limits := resource.Amounts{}, resource.Amounts{}
		for _, limit := range limitsOf(r, "Container") {
			maps.Copy(requests, resource.AmountsAt(limit, "defaultRequest"))
			maps.Copy(limits, resource.AmountsAt(limit, "default"))
		}
		var done []string
		for _, c := range a.Object.Objects("spec", "containers") {
			done = append(done, fillContainer(c, "container", requests, limits)...)
		}
		for _, c := range a.Object.Objects("spec", "initContainers") {
			done = append(done, fillContainer(c, "init container", requests, limits)...)
		}
		if len(done) > 0 {
			a.Object.Set("LimitRanger plugin set: "+strings.Join(done, "; "), "metadata", "annotations", limitAnnotation)
		}
	}
	return nil
}

// fillContainer sets the missing requests and limits of a container. It returns a description of each, for an annotation. kind is
// the word for the container in the descriptions.
func fillContainer(c object.Object, kind string, requests, limits resource.Amounts) (done []string) {
	fill := func(side, word string, defaults resource.Amounts) {
		var set []string
		for _, name := range defaults.Names() {
			if c.SetDefault(defaults[name].String(), "resources", side, name) {
				set = append(set, name)
			}
		}
		if len(set) > 0 {
			done = append(done, fmt.Sprintf("%s %s for %s %s", strings.Join(set, ", "), word, kind, c.String("name")))
		}
	}
	fill("requests", "request", requests)
	fill("limits", "limit", limits)
	return done
}

// checkLimits rejects pods and claims that violate the limits of their namespace.
func checkLimits(a *Attributes) *status.Status {
	if !a.limited() {
		return nil
	}
	for _, r := range a.Objects.All(limitRanges, a.Namespace) {
		var broken []string
		if a.Definition.Storage == claims {
			for _, limit := range limitsOf(r, "PersistentVolumeClaim") {
				broken = append(broken, claimBounds(a.Object, limit)...)
			}
		} else {
			broken = podBounds(a.Object, r)
		}
		if len(broken) > 0 {
			return a.refuse("%s", field.Aggregate(broken))
		}
	}
	return nil
}

func podBounds(pod, limitRange object.Object) (broken []string) {
	for _, limit := range limitRange.Objects("spec", "limits") {
		switch limit["type"] {
		case "Container":
			for _, list := range []string{"containers", "initContainers"} {
				for _, c := range pod.Objects("spec", list) {
					broken = append(broken, bounds(limit, resource.AmountsAt(c, "resources", "requests"), resource.AmountsAt(c, "resources", "limits"))...)
				}
			}
		case "Pod":
			broken = append(broken, bounds(limit, podspec.Amounts(pod, "requests"), podspec.Amounts(pod, "limits"))...)
		}
	}
	return broken
}

// claimBounds returns a message for each bound that a claim violates. Claims have only requests.
func claimBounds(claim, limit object.Object) []string {
	request := namedAmounts{"request", resource.AmountsAt(claim, "spec", "resources", "requests")}
	return append(edges(limit, "min", request), edges(limit, "max", request)...)
}

// bounds returns a message for each bound of a limit that the requests and limits of a container or pod violate.
func bounds(limit object.Object, requests, limits resource.Amounts) []string {
	request, most := namedAmounts{"request", requests}, namedAmounts{"limit", limits}
	broken := append(edges(limit, "min", request, most), edges(limit, "max", most, request)...)
	ratio := resource.AmountsAt(limit, "maxLimitRequestRatio")
	for _, name := range ratio.Names() {
		broken = append(broken, atRatio(limit.String("type"), name, ratio[name], requests, limits)...)
	}
	return broken
}

// namedAmounts is either the requests or the limits of a container or pod, with the word for it in errors.
type namedAmounts struct {
	word string
	resource.Amounts
}

// edges returns a message for each amount that is beyond a bound of a limit. at is the bound, "min" or "max". The first side must have
// these amounts; for the other sides they are optional.
func edges(limit object.Object, at string, sides ...namedAmounts) (broken []string) {
	word, beyond := "minimum", -1
	if at == "max" {
		word, beyond = "maximum", 1
	}
	edge := resource.AmountsAt(limit, at)
	for _, name := range edge.Names() {
		for i, s := range sides {
			why := ""
			if q, stated := s.Amounts[name]; stated && q.Cmp(edge[name]) == beyond {
				why = ", but " + s.word + " is " + q.String()
			} else if !stated && i == 0 {
				why = ".  No " + s.word + " is specified"
			}
			if why != "" {
				broken = append(broken, fmt.Sprintf("%s %s usage per %s is %s%s", word, name, limit.String("type"), edge[name], why))
				break
			}
		}
	}
	return broken
}

func atRatio(kind, name string, most quantity.Quantity, requests, limits resource.Amounts) []string {
	text := fmt.Sprintf("%s max limit to request ratio per %s is %s", name, kind, most)
	request, limit := precise(requests[name]), precise(limits[name])
	switch {
	case request == 0:
		return []string{text + ", but no request is specified or request is 0"}
	case limit == 0:
		return []string{text + ", but no limit is specified or limit is 0"}
	}
	if ratio := limit / request; ratio*1000 > float64(most.MilliValue()) {
		return []string{text + fmt.Sprintf(", but provided ratio is %f", ratio)}
	}
	return nil
}

// precise returns a quantity in thousandths. If that overflows int64, it returns the quantity rounded to whole units, times 1000.
func precise(q quantity.Quantity) float64 {
	if n := q.MilliValue(); n != math.MaxInt64 {
		return float64(n)
	}
	return float64(q.Value()) * 1000
}
