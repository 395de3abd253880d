package fake_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

// TestNoPrivileged checks that a server without --allow-privileged rejects privileged containers in every object that
// has a pod spec. The expected messages are those of kube-apiserver v1.36.3 with --allow-privileged=false. By default a
// server allows privileged containers.
func TestNoPrivileged(t *testing.T) {
	t.Parallel()
	const (
		pod    = `{"restartPolicy":"Never","containers":[{"name":"c","image":"x","securityContext":{"privileged":true,"runAsUser":-1}}]}`
		always = `{"containers":[{"name":"c","image":"x","securityContext":{"privileged":true,"runAsUser":-1}}]}`
		user   = `runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive`
	)
	workload := func(template string) string {
		return `{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":` + template + `}}`
	}
	for _, c := range []struct{ path, body, at string }{
		{"/api/v1/namespaces/default/pods", `"spec":` + pod, "spec"},
		{"/api/v1/namespaces/default/podtemplates", `"template":{"spec":` + pod + `}`, "template.spec"},
		{"/api/v1/namespaces/default/replicationcontrollers", `"spec":{"template":{"metadata":{"labels":{"a":"b"}},"spec":` + always + `}}`, "spec.template.spec"},
		{"/apis/apps/v1/namespaces/default/deployments", `"spec":` + workload(always), "spec.template.spec"},
		{"/apis/apps/v1/namespaces/default/replicasets", `"spec":` + workload(always), "spec.template.spec"},
		{"/apis/apps/v1/namespaces/default/daemonsets", `"spec":` + workload(always), "spec.template.spec"},
		{"/apis/apps/v1/namespaces/default/statefulsets", `"spec":` + workload(always), "spec.template.spec"},
		{"/apis/batch/v1/namespaces/default/jobs", `"spec":{"template":{"spec":` + pod + `}}`, "spec.template.spec"},
		{"/apis/batch/v1/namespaces/default/cronjobs", `"spec":{"schedule":"* * * * *","jobTemplate":{"spec":{"template":{"spec":` + pod + `}}}}`,
			"spec.jobTemplate.spec.template.spec"},
	} {
		is := is.New(t)
		refusing := client{t, fake.RunT(t, fake.Options{Replicas: []fake.ReplicaOptions{{NoPrivileged: true}}})}
		code, body := refusing.do("POST", c.path, `{"metadata":{"name":"p"},`+c.body+`}`)
		is.Equal(code, http.StatusUnprocessableEntity)
		container := c.at + ".containers[0].securityContext."
		is.True(strings.Contains(refusing.parse(body).String("message"), "["+container+"privileged: Forbidden: disallowed by cluster policy, "+
			container+user)) // before other errors of the container

		allowing := client{t, fake.RunT(t)}
		code, _ = allowing.do("POST", c.path, `{"metadata":{"name":"p"},`+strings.ReplaceAll(c.body, "-1", "1")+`}`)
		is.Equal(code, http.StatusCreated)
	}
}

// TestNoPrivilegedLater checks that ephemeral containers and Windows host processes are rejected, too.
func TestNoPrivilegedLater(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c := client{t, fake.RunT(t, fake.Options{Replicas: []fake.ReplicaOptions{{NoPrivileged: true}}})}
	const pods = "/api/v1/namespaces/default/pods"
	code, body := c.do("POST", pods, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"x"}]}}`)
	is.Equal(code, http.StatusCreated)
	p := c.parse(body)
	p.Set([]any{map[string]any{"name": "e", "image": "x", "securityContext": map[string]any{"privileged": true}}}, "spec", "ephemeralContainers")
	code, body = c.do("PUT", pods+"/p/ephemeralcontainers", string(object.JSON(map[string]any(p))))
	is.Equal(code, http.StatusUnprocessableEntity)
	is.Equal(c.parse(body).String("message"), `Pod "p" is invalid: spec.ephemeralContainers[0].securityContext.privileged: Forbidden: disallowed by cluster policy`)
	code, body = c.do("POST", pods, `{"metadata":{"name":"w"},"spec":{"hostNetwork":true,"securityContext":{"windowsOptions":{"hostProcess":true}},`+
		`"containers":[{"name":"c","image":"x"}]}}`)
	is.Equal(code, http.StatusUnprocessableEntity)
	is.Equal(c.parse(body).String("message"), `Pod "w" is invalid: spec: Forbidden: hostProcess containers are disallowed by cluster policy`)
}
