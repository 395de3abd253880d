package core

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	evictedPod = `{"metadata":{"name":"p","uid":"u","resourceVersion":"7","labels":{"a":"b"}},"spec":{"nodeName":"n"},"status":{"phase":"Running",` +
		`"conditions":[{"type":"Ready","status":"True"}]}}`
	unreadyPod = `{"metadata":{"name":"p","uid":"u","resourceVersion":"7","labels":{"a":"b"}},"status":{"phase":"Running"}}`
	pendingPod = `{"metadata":{"name":"p","uid":"u","resourceVersion":"7","labels":{"a":"b"}},"status":{"phase":"Pending"}}`
	donePod    = `{"metadata":{"name":"p","uid":"u","resourceVersion":"7","labels":{"a":"b"}},"status":{"phase":"Succeeded"}}`
)

func budgetOf(spec, status string) string {
	return `{"metadata":{"name":"b","generation":1},"spec":{"selector":{"matchLabels":{"a":"b"}}` + spec + `},"status":{"observedGeneration":1` + status + `}}`
}

func TestEviction(t *testing.T) {
	t.Parallel()
	const refused = "Cannot evict pod as it would violate the pod's disruption budget."
	for _, tc := range []struct {
		name, pod, budget string
		code              int
		message, cause    string
		deleted           string // delete options, or "" if the pod was not deleted
	}{
		{"no budget", evictedPod, "", 201, "", "", `{}`},
		{"allowed", evictedPod, budgetOf("", `,"disruptionsAllowed":2`), 201, "", "", `{}`},
		{"pending", pendingPod, budgetOf("", ``), 201, "", "", `{"preconditions":{"resourceVersion":"101"}}`},
		{"done", donePod, budgetOf("", ``), 201, "", "", `{}`},
		{"not processed", evictedPod, `{"metadata":{"name":"b","generation":2},"spec":{"selector":{}}}`, 429, refused,
			"The disruption budget b is still being processed by the server.", ""},
		{"too few pods", evictedPod, budgetOf("", `,"desiredHealthy":2,"currentHealthy":1`), 429, refused,
			"The disruption budget b needs 2 healthy pods and has 1 currently", ""},
		{"a failed sync", evictedPod, budgetOf("", `,"conditions":[{"type":"DisruptionAllowed","status":"False","reason":"SyncFailed","message":"m"}]`), 429, refused,
			"The disruption budget b does not allow evicting pods currently because it failed sync: m", ""},
		{"another reason", evictedPod, budgetOf("", `,"currentHealthy":3,"conditions":[{"type":"DisruptionAllowed","status":"False","reason":"R","message":"m"}]`), 429, refused,
			"The disruption budget b does not allow evicting pods currently (R): m", ""},
		{"no reason", evictedPod, budgetOf("", `,"currentHealthy":3`), 429, refused,
			"The disruption budget b does not allow evicting pods currently", ""},
		{"a negative number", evictedPod, budgetOf("", `,"disruptionsAllowed":-1`), 403,
			`poddisruptionbudget.policy "b" is forbidden: pdb disruptions allowed is negative`, "", ""},
		{"unready and always allowed", unreadyPod, budgetOf(`,"unhealthyPodEvictionPolicy":"AlwaysAllow"`, ``), 201, "", "",
			`{"preconditions":{"resourceVersion":"101"}}`},
		{"unready with enough others", unreadyPod, budgetOf("", `,"desiredHealthy":1,"currentHealthy":1`), 201, "", "",
			`{"preconditions":{"resourceVersion":"101"}}`},
		{"unready with too few others", unreadyPod, budgetOf("", `,"desiredHealthy":1`), 429, refused,
			"The disruption budget b needs 1 healthy pods and has 0 currently", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			is := is.New(t)
			objects := map[string]string{"pods/p": tc.pod}
			if tc.budget != "" {
				objects[budgetStorage+"/b"] = tc.budget
			}
			store := kindtest.NewStore(t, objects)
			_, s := store.Connect(evictPod, "p", `{"metadata":{"name":"p"}}`)
			is.Equal(s.Code, tc.code)
			is.Equal(s.Message, tc.message)
			if tc.cause != "" {
				is.Equal(s.Details.Causes, []status.Cause{{Reason: "DisruptionBudget", Message: tc.cause}})
			}
			is.Equal(store.Deleted["pods/p"], tc.deleted)
		})
	}
}

func TestEvictionMarksPodAndBudget(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	store := kindtest.NewStore(t, map[string]string{"pods/p": evictedPod, budgetStorage + "/b": budgetOf("", `,"disruptionsAllowed":1`)})
	_, s := store.Connect(evictPod, "p", `{"metadata":{"name":"p"},"deleteOptions":{"gracePeriodSeconds":5}}`)
	is.Equal(s.Code, 201)
	is.Equal(store.Deleted["pods/p"], `{"gracePeriodSeconds":5}`) // with the client's options
	is.Equal(string(object.JSON(store.Objects["pods/p"].List("status", "conditions")[1])),
		`{"lastTransitionTime":"2026-01-02T03:04:05Z","message":"Eviction API: evicting","reason":"EvictionByEvictionAPI","status":"True","type":"DisruptionTarget"}`)
	budget := store.Objects[budgetStorage+"/b"]
	is.Equal(budget.Int64("status", "disruptionsAllowed"), int64(0))
	is.Equal(budget.String("status", "disruptedPods", "p"), "2026-01-02T03:04:05Z")
	is.Equal(string(object.JSON(budget.List("status", "conditions"))),
		`[{"lastTransitionTime":"2026-01-02T03:04:05Z","message":"","observedGeneration":1,"reason":"InsufficientPods","status":"False","type":"DisruptionAllowed"}]`)
}

func TestEvictionRefusesRequests(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, body string
		code       int
		message    string
	}{
		{"of another name", `{"metadata":{"name":"q"}}`, 400, "name in URL does not match name in Eviction object"},
		{"for another uid", `{"metadata":{"name":"p"},"deleteOptions":{"preconditions":{"uid":"x"}}}`, 409,
			`Operation cannot be fulfilled on Pod "p": the UID in the precondition (x) does not match the UID in record (u). The object might have been deleted and then recreated`},
		{"for another version", `{"metadata":{"name":"p"},"deleteOptions":{"preconditions":{"resourceVersion":"6"}}}`, 409,
			`Operation cannot be fulfilled on Pod "p": the ResourceVersion in the precondition (6) does not match the ResourceVersion in record (7). The object might have been modified`},
		{"that break what cannot be read", `{"metadata":{"name":"p"},"deleteOptions":{"ignoreStoreReadErrorWithClusterBreakingPotential":true}}`, 422,
			`Eviction.policy "p" is invalid: deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: can not be set for pod eviction, try after removing the option`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			is := is.New(t)
			store := kindtest.NewStore(t, map[string]string{"pods/p": evictedPod})
			_, s := store.Connect(evictPod, "p", tc.body)
			is.Equal(s.Code, tc.code)
			is.Equal(s.Message, tc.message)
			is.Equal(len(store.Deleted), 0)
		})
	}
}

func TestEvictionIsRehearsed(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	store := kindtest.NewStore(t, map[string]string{"pods/p": evictedPod, budgetStorage + "/b": budgetOf("", `,"disruptionsAllowed":1`)})
	_, s := store.Connect(evictPod, "p", `{"metadata":{"name":"p"},"deleteOptions":{"dryRun":["All"]}}`)
	is.Equal(s.Code, 201)
	is.Equal(store.Rev, 100) // nothing was written
	is.Equal(store.Deleted["pods/p"], `{"dryRun":["All"]}`)
}

func TestTwoBudgets(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	store := kindtest.NewStore(t, map[string]string{"pods/p": evictedPod, budgetStorage + "/b": budgetOf("", ``),
		budgetStorage + "/c": `{"metadata":{"name":"c"},"spec":{"selector":{}}}`})
	_, s := store.Connect(evictPod, "p", `{"metadata":{"name":"p"}}`)
	is.Equal(s.Code, 500)
	is.Equal(s.Message, "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.")
}
