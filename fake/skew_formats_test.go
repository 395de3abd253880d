package fake_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubesim/kubesim/fake"
)

// TestSkewedFormats checks which names and addresses servers before 1.36 accept.
func TestSkewedFormats(t *testing.T) {
	t.Parallel()
	service := func(name, ips string) string {
		return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"ports":[{"port":80}],"externalIPs":[%s]}}`, name, ips)
	}
	policy := `{"metadata":{"name":"p"},"spec":{"podSelector":{},"ingress":[{"from":[{"ipBlock":{"cidr":"010.0.0.1/8"}}]}]}}`
	const services, policies = namespaced + "services", "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies"
	for _, x := range []struct{ path, body, old, new string }{
		{services, service("1svc", ""), "422 must be a DNS-1035", "201"},
		{services, service("zeros", `"010.1.2.3"`), "201", "422 must not have leading 0s"},
		{services, service("mapped", `"::ffff:1.2.3.4"`), "201", "422 must not be an IPv4-mapped"},
		{services, service("wrong", `"1.2.3"`), "422 must be a valid IP", "422 must be a valid IP"},
		{policies, policy, "201", "422 must not have leading 0s in IP"},
		{"/apis/networking.k8s.io/v1/ipaddresses", `{"metadata":{"name":"010.1.2.3"},"spec":{"parentRef":{"resource":"services","name":"x"}}}`,
			"422 must not have leading 0s", "422 must not have leading 0s"}, // newer than the feature gate
	} {
		for i, want := range []string{x.old, x.old, x.new} {
			o := fake.ReplicaOptions{Version: []string{"1.34", "1.35", "1.36"}[i]}
			code, body := client{t, fake.RunT(t, fake.Options{Replicas: []fake.ReplicaOptions{o}})}.do("POST", x.path, x.body)
			number, text, _ := strings.Cut(want, " ")
			if fmt.Sprint(code) != number || text != "" && !strings.Contains(body, strings.TrimPrefix(text, "must be a DNS-1035")) {
				t.Errorf("%s %s: %d %s, want %s", o.Version, x.body, code, body, want)
			}
		}
	}
}
