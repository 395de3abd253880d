package resource

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Limits of ResourcePoolStatusRequests.
const (
	defaultPoolLimit = 100
	maxPoolLimit     = 1000
	maxPoolStatuses  = 1000
	maxPoolConds     = 10
)

// poolStatusKind returns the kind ResourcePoolStatusRequest, which no server serves by default (KEP-5677).
func poolStatusKind() kind.Kind {
	count := func(name, text, field string) table.Column {
		return table.Text(name, text).Cell(func(obj object.Object) any { return cellPoolSum(obj, field) })
	}
	pools := table.Text("Pools", "Total number of matching pools.").Cell(func(obj object.Object) any { return poolCount(obj) }).Of("integer")
	return kind.Kind{
		Storage:  "resourcepoolstatusrequests.resource.k8s.io",
		Strategy: resource.Strategy{HasStatus: true, StatusKeeps: resource.KeptForStatus, DenyUnconditionalUpdate: true, ReturnDeletedObject: true},
		Defaults: kind.EveryVersion(func(obj object.Object) { obj.SetDefault(int64(defaultPoolLimit), "spec", "limit") }),
		Validate: func(_ *resource.Context, at field.Cursor) {
			at.Child("spec").Declared(true, func(spec field.Cursor) field.Cursor {
				if spec.Updates() {
					return spec.Immutable()
				}
				spec.Child("driver").Required().Check(field.DNS1123SubdomainAnyCase)
				validatePoolPath(spec.Child("poolName"))
				spec.Child("limit").Max(maxPoolLimit, fmt.Sprintf("must be less than or equal to %d", maxPoolLimit)).Min(1, "must be greater than or equal to 1")
				return spec
			})
		},
		ValidateStatus: validatePoolStatus,
		Columns: []table.Column{table.Name(), table.Text("Driver", "The driver to query pools for.").At("spec", "driver"),
			count("Total", "Total number of devices across all pools.", "totalDevices"),
			count("Available", "Number of available devices across all pools.", "availableDevices"),
			count("Allocated", "Number of allocated devices across all pools.", "allocatedDevices"),
			count("Unavailable", "Number of unavailable devices across all pools.", "unavailableDevices"),
			count("Errors", "Number of pools with validation errors.", "validationError"), pools,
			table.Text("Status", "Processing status.").Cell(cellPoolState),
			table.Text("Completed", "Time since the observation completed.").CellNow(func(now time.Time, obj object.Object) any {
				if poolState(obj) != "Complete" {
					return table.None
				}
				return table.SinceCell(now, obj.Condition("Complete").String("lastTransitionTime"))
			})},
	}
}

// validatePoolPath checks the name of a pool, whose segments are subdomains (validate.ResourcePoolName).
func validatePoolPath(name field.Cursor) {
	if !name.Has() {
		return
	}
	name.MaxBytes(field.DNSSubdomainMax)
	i := 0
	for part := range strings.SplitSeq(name.String(), "/") {
		if part == "" {
			name.Invalid(name.String(), fmt.Sprintf("segment %d: must not be empty", i))
		} else {
			for _, text := range field.DNS1123Subdomain(part) {
				name.Invalid(part, fmt.Sprintf("segment %d: %s", i, text))
			}
		}
		i++
	}
}

// poolRule returns the rule for the pool of an allocated device. Since 1.37 it is a tag on the type, and its errors name the segment.
func poolRule(ctx *resource.Context) func(field.Cursor) field.Cursor {
	if !ctx.Since(37) {
		return validatePoolName
	}
	return func(pool field.Cursor) field.Cursor {
		if pool.Required(); pool.String() != "" {
			validatePoolPath(pool)
		}
		return pool
	}
}

// validatePoolStatus validates the status, which can be set only once.
func validatePoolStatus(ctx *resource.Context, at field.Cursor) {
	status := at.Child("status")
	if at.Old().Has("status") {
		if status.Changed() {
			status.Invalid(gotext.Value(gotext.ResourcePoolStatusRequestStatus, status.Object()), field.TextImmutable)
		}
		return
	}
	if !status.Has() {
		return
	}
	kind.CheckConditions(ctx, status.Child("conditions"))
	status.Declared(true, func(status field.Cursor) field.Cursor {
		status.Child("poolCount").Required().Min(0, field.TextNonNegative)
		status.Child("pools").MaxItems(maxPoolStatuses)
		status.Child("conditions").MaxItems(maxPoolConds)
		return status
	})
}

// poolState returns which of the conditions that end a request is true, or "Pending".
func poolState(obj object.Object) string {
	for _, c := range obj.Objects("status", "conditions") {
		if t := c.String("type"); c.String("status") == "True" && (t == "Complete" || t == "Failed") {
			return t
		}
	}
	return "Pending"
}

func poolCount(obj object.Object) int64 {
	n, _ := obj.Get("status", "poolCount")
	count, _ := n.(int64)
	return count
}

func cellPoolState(obj object.Object) any {
	state, shown := poolState(obj), len(obj.List("status", "pools"))
	if n := poolCount(obj); state == "Complete" && n > int64(shown) {
		return fmt.Sprintf("Complete (%d/%d pools)", shown, n)
	}
	return state
}

// cellPoolSum returns the sum of a field of all pools, or the number of pools that have a text there.
func cellPoolSum(obj object.Object, name string) any {
	if !obj.Has("status") || poolState(obj) == "Failed" {
		return "-"
	}
	sum := int64(0)
	for _, p := range obj.Objects("status", "pools") {
		switch v := p[name].(type) {
		case int64:
			sum += v
		case string:
			sum++
		}
	}
	return strconv.FormatInt(sum, 10)
}
