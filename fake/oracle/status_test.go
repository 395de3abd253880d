package oracle_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
)

// TestStatusAgrees checks each contradiction that StatusAgrees finds, with a custom object that controls a Deployment.
func TestStatusAgrees(t *testing.T) {
	t.Parallel()
	const status = `{"replicas":2,"updatedReplicas":2,"readyReplicas":2,"availableReplicas":2,"observedGeneration":1}`
	for _, c := range []struct{ name, site, deployment, want string }{
		{"all is ready", `{"observedGeneration":1,"conditions":[{"type":"Ready","status":"True","observedGeneration":1}]}`, status, ""},
		{"nothing is claimed", `{"conditions":[{"type":"Ready","status":"False"}]}`, `{"replicas":2}`, ""},
		{"old status", `{"observedGeneration":0}`, status, "status.observedGeneration is 0, metadata.generation is 1"},
		{"old condition", `{"conditions":[{"type":"Ready","status":"True","observedGeneration":3}]}`, status, "observedGeneration of the condition Ready is 3"},
		{"busy", `{"conditions":[{"type":"Reconciling","status":"True","reason":"Retry"}]}`, status, "the condition Reconciling is True (Retry)"},
		{"replicas", `{"conditions":[{"type":"Ready","status":"True"}]}`, `{"replicas":2,"readyReplicas":1}`,
			"its condition Ready is True, but deployments.apps default/a: status.readyReplicas is 1, spec.replicas is 2"},
		{"no replicas", `{"conditions":[{"type":"Available","status":"True"}]}`, `{"replicas":2}`, "status.readyReplicas is 0"},
		{"condition", `{"conditions":[{"type":"Ready","status":"True"}]}`, `{"conditions":[{"type":"Available","status":"False","reason":"Slow"}]}`,
			"its condition Available is False Slow"},
		{"old rollout", `{"conditions":[{"type":"Ready","status":"True"}]}`, `{"observedGeneration":7}`, "status.observedGeneration is 7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			srv, err := fake.New(fake.Options{Clock: clock.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))})
			is.NoErr(err)
			defer srv.Close()
			is.NoErr(srv.LoadData([]byte(definition)))
			is.NoErr(srv.LoadData([]byte(strings.Replace(site, "$status", c.site, 1))))
			uid := ""
			is.NoErr(srv.Eventually("the site exists", 0, func(view fake.View) error {
				uid = view.Get("sites.web.example.com", "default", "a").UID()
				return nil
			}))
			is.NoErr(srv.LoadData([]byte(strings.Replace(deployment, "$uid", uid, 1))))
			patch, err := http.NewRequest("PATCH", srv.URL()+"/apis/apps/v1/namespaces/default/deployments/a/status",
				strings.NewReader(`{"status":`+c.deployment+`}`))
			is.NoErr(err)
			patch.Header.Set("Content-Type", "application/merge-patch+json")
			res, err := srv.Transport().RoundTrip(patch)
			is.NoErr(err)
			is.Equal(res.StatusCode, http.StatusOK)
			err = srv.Eventually("the status agrees", 0, fake.StatusAgrees("sites.web.example.com"))
			if c.want == "" {
				is.NoErr(err)
			} else {
				is.True(err != nil && strings.Contains(err.Error(), c.want)) // the error names the contradiction
			}
		})
	}
}

const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"sites.web.example.com"},
"spec":{"group":"web.example.com","scope":"Namespaced","names":{"plural":"sites","kind":"Site"},"versions":[{"name":"v1","served":true,
"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`

const site = `{"apiVersion":"web.example.com/v1","kind":"Site","metadata":{"name":"a","namespace":"default"},"status":$status}`

// deployment is controlled by the site with the uid $uid.
const deployment = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","namespace":"default","ownerReferences":[
{"apiVersion":"web.example.com/v1","kind":"Site","name":"a","uid":"$uid","controller":true}]},"spec":{"replicas":2,
"selector":{"matchLabels":{"a":"a"}},"template":{"metadata":{"labels":{"a":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
