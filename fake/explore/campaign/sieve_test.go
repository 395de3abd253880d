package campaign_test

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake/explore/campaign"
	"github.com/kubesim/kubesim/sim/object"
)

// stale is a plan in the form of Sieve: a controller that continues at an API server which has not seen a deletion.
const stale = `workload: recreate
actions:
- actionType: pauseAPIServer
  apiServerName: kind-control-plane3
  pauseScope: shop/default/a
  trigger:
    definitions:
    - triggerName: t1
      condition:
        conditionType: onObjectUpdate
        resourceKey: shop/default/a
        prevStateDiff: '{"metadata": {}}'
        curStateDiff: '{"metadata": {"deletionTimestamp": "SIEVE-NON-NIL"}}'
        occurrence: 1
      observationPoint: {when: afterAPIServerRecv, by: kind-control-plane3}
    expression: t1
- actionType: reconnectController
  controllerLabel: shop-operator
  reconnectAPIServer: kind-control-plane3
  waitBefore: 10
  trigger:
    definitions:
    - triggerName: t2
      condition: {conditionType: onObjectDelete, resourceKey: pod/default/a-0, occurrence: 2}
    - triggerName: t3
      condition: {conditionType: onObjectCreate, resourceKey: pod/default/a-1}
    expression: t2|t3
- actionType: resumeAPIServer
  apiServerName: kind-control-plane3
  trigger:
    definitions:
    - triggerName: t4
      condition: {conditionType: onTimeout, timeoutValue: 20}
    expression: t4
`

// TestParseSieve checks that a plan of Sieve becomes steps that run one after the other, and that their text can be parsed.
func TestParseSieve(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p, err := campaign.ParseSieve([]byte(stale), "operator")
	is.NoErr(err)
	is.Equal(p.Lines(), `then 0s change 1 update shop default/a {"metadata":{}} {"metadata":{"deletionTimestamp":"SIEVE-NON-NIL"}} do lag 2 24h0m0s
then 10s change 2 delete pod default/a-0 {} {} or change 1 create pod default/a-1 {} {} do crash operator 1s stale=2 24h0m0s
then 20s do resume 2
`)
	again, err := campaign.Parse(p.String())
	is.NoErr(err)
	is.Equal(again, p)
	for text, want := range map[string]string{ // the order does not matter
		"actions: [{actionType: dance}]":                                      "action 1, dance: there is no such action in kubesim",
		"actions: [{actionType: pauseAPIServer, trigger: {expression: a&b}}]": `action 1, pauseAPIServer: the expression "a&b" is not supported: use | between triggers`,
	} {
		_, err := campaign.ParseSieve([]byte(text), "operator")
		is.Equal(err.Error(), want)
	}
}

// TestChange checks which writes match a change.
func TestChange(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	state := func(fields string) object.Object {
		obj, err := object.Parse([]byte(`{"kind":"Shop","metadata":{"namespace":"default","name":"a"},` + fields + `}`))
		is.NoErr(err)
		return obj
	}
	two, three := state(`"spec":{"replicas":2,"list":[{"a":1},{"b":2}]}`), state(`"spec":{"replicas":3}`)
	c := campaign.Change{Verb: "update", Kind: "shop", Key: "default/a", Was: `{"spec":{"replicas":2}}`, Is: `{"spec":{"replicas":3}}`}
	is.True(c.Matches(two, three))
	is.True(!c.Matches(three, two))
	is.True(!c.Matches(nil, three))
	c.Is = `{}`
	is.True(c.Matches(two, three)) // a field of Was has changed
	is.True(!c.Matches(two, two))
	c.Was = `{"spec":{"list":["SIEVE-IDX-SKIP",{"b":2}]}}`
	is.True(c.Matches(two, three))
	c.Verb = "delete"
	is.True(c.Matches(two, nil))
	c.Key = "default/b"
	is.True(!c.Matches(two, nil))
}
