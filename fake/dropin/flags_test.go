package dropin

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake/flags"
)

// Every flag is honoured, mapped, ignored or refused. In the security sections, an ignored flag has a note with the reason, and a
// refused flag is an error.
func TestFlagsAreClassified(t *testing.T) {
	security := []string{"Auditing flags", "Authentication flags", "Authorization flags", "Admission flags"}
	var source []byte
	for _, name := range []string{"options.go", "apis.go"} {
		text, err := os.ReadFile(name)
		is.New(t).NoErr(err)
		source = append(source, text...)
	}
	for _, f := range flags.All() {
		t.Run(f.Name, func(t *testing.T) {
			is := is.New(t)
			value := map[string]string{"": "true", "int": "1", "float": "1", "float32": "1", "duration": "1s", "ip": "127.0.0.1"}[f.Kind]
			_, err := read([]string{"--etcd-servers=a", "--" + f.Name + "=" + cmp.Or(value, "x")})
			switch f.Does {
			case "refused":
				is.True(err != nil && strings.Contains(err.Error(), "--"+f.Name)) // it is an error that names the flag
				is.True(f.Words != "")                                            // and contains the reason
			case "ignored":
				is.NoErr(err)
				is.True(!slices.Contains(security, f.Section) || f.Words != "") // the note contains the reason
			case "honoured", "mapped":
				is.True(f.Sets() || bytes.Contains(source, []byte(`"`+f.Name+`"`))) // the code reads it
			default:
				t.Errorf("it is %q", f.Does)
			}
		})
	}
}

// TestAuditFlags checks kube-apiserver's errors for flags of the audit log that have no effect here.
func TestAuditFlags(t *testing.T) {
	is := is.New(t)
	for given, want := range map[string]string{
		"--audit-log-mode=x":         `invalid audit log mode x, allowed modes are "batch,blocking,blocking-strict"`,
		"--audit-log-version=v2":     `invalid group version, allowed versions are ["audit.k8s.io/v1"]`,
		"--audit-log-version=a/b/c":  `unexpected GroupVersion string: a/b/c`,
		"--audit-log-maxage=-1":      `--audit-log-maxage -1 can't be a negative number`,
		"--audit-log-path=/dev/null": "",
	} {
		_, err := read([]string{"--etcd-servers=a", given})
		is.Equal(fmt.Sprint(err), cmp.Or(want, "<nil>"))
	}
}

// If a flag with one value is repeated, the last value counts. The values of a list flag are appended, like in pflag.
func TestFlagsGivenTwice(t *testing.T) {
	is := is.New(t)
	s, err := read(strings.Fields("--etcd-servers=a --etcd-servers=b --service-cluster-ip-range=10.0.0.0/24 --service-cluster-ip-range=10.1.0.0/24 --advertise-address=10.0.0.1 " +
		"--advertise-address=10.0.0.2 --secure-port=1 --secure-port=2 --allow-privileged=false --allow-privileged --authorization-mode=Node --authorization-mode=RBAC " +
		"--runtime-config=apps/v1=true --runtime-config=apps/v1=false --min-request-timeout=5 --min-request-timeout=7 --admission-control=Priority --admission-control=ServiceAccount"))
	is.NoErr(err)
	o := &s.options
	is.Equal([]any{s.etcd, o.ServiceCIDR, o.Advertise, o.Port, o.MinRequestTimeout}, []any{"a", "10.1.0.0/24", "10.0.0.2", 2, 7 * time.Second})
	is.Equal(o.Authorizers, []string{"Node", "RBAC"})
	is.Equal([]any{o.Replicas[0].NoPrivileged, o.Replicas[0].Serve["apps/v1"]}, []any{false, false})
	is.Equal(o.Plugins, []string{"ServiceAccount"})
	is.True(slices.Contains(o.WithoutPlugins, "PodSecurity") && !slices.Contains(o.WithoutPlugins, "Priority")) // none but those of --admission-control
}

// --runtime-config accepts what kube-apiserver v1.36.3 accepts, and has its errors, except for APIs that kube-apiserver would serve
// and kubesim does not have. A value that has no effect there has none here.
func TestRuntimeConfig(t *testing.T) {
	is := is.New(t)
	for given, want := range map[string]string{
		"foo.io/v1=false,bar.io/v2,apps/v1":            "unknown api groups bar.io/v2,foo.io/v1",
		"api/foo=true":                                 "unknown api groups api/foo",
		"batch/v2alpha1=false":                         "group version batch/v2alpha1 that has not been registered",
		"/v3=true":                                     "group version v3 that has not been registered",
		"nonsense=true":                                "runtime-config invalid key nonsense",
		"policy/v1/x/y":                                "runtime-config invalid key policy/v1/x/y",
		"apps/v1=maybe":                                `invalid value of apps/v1: maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax`,
		"api/all":                                      "invalid value api/all=",
		"apps/v1/Deployments=true":                     `invalid key apps/v1/Deployments: group/version/resource and resource is always lowercase plural, not "Deployments"`,
		"networking.k8s.io/v1beta1=true":               "",
		"resource.k8s.io/v1beta2/deviceclasses":        "",
		"networking.k8s.io/v1beta1=false":              "",
		"resource.k8s.io/v1beta2/others=true":          "",
		"authentication.k8s.io/v1beta1=true":           "", // kube-apiserver accepts it, but serves no resources
		"certificates.k8s.io/v1alpha1=true":            "", // without the gate ClusterTrustBundle
		"api/legacy=x,api/all=true":                    "",
		"batch/v1=true,batch/v1/jobs=false,/v1/pods=1": "",
	} {
		_, err := read([]string{"--etcd-servers=a", "--runtime-config=" + given})
		is.Equal(cmp.Or(err, errors.New("")).Error(), want)
	}
	groups := []string{"--etcd-servers=a", "--runtime-config=scheduling.k8s.io/v1alpha2=true", "--feature-gates=GenericWorkload=true"}
	grouped, err := read(groups)
	is.NoErr(err)
	is.Equal(grouped.options.Replicas[0].Serve, map[string]bool{"scheduling.k8s.io/v1alpha2": true})
	_, err = read(append(groups, "--emulated-version=1.35")) // for which kubesim has no data about the version
	is.Equal(err.Error(), "kubesim does not serve scheduling.k8s.io/v1alpha2 (--runtime-config): leave it out")
	gated, err := read([]string{"--etcd-servers=a", "--runtime-config=certificates.k8s.io/v1alpha1=true", "--feature-gates=ClusterTrustBundle=true"})
	is.NoErr(err)
	is.Equal(gated.options.Replicas[0].Serve, map[string]bool{"certificates.k8s.io/v1alpha1": true})
	s, err := read([]string{"--etcd-servers=a", "--runtime-config=v1/pods=false,api/beta=true,apps/v1=,batch/v1/jobs=false,/v1/secrets=false,apps/v1beta1=true"})
	is.NoErr(err)
	is.Equal(s.options.Replicas[0].Serve, map[string]bool{"v1": false, "v1/secrets": false, "apps/v1": true, "batch/v1/jobs": false, "api/beta": true})
	is.Equal(s.idle, []string{"--runtime-config apps/v1beta1"})
}

// Cipher suites have the names of crypto/tls. Two of them also have legacy names.
func TestCipherNames(t *testing.T) {
	is := is.New(t)
	s, err := read([]string{"--etcd-servers=a", "--tls-cipher-suites=TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305,TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305,TLS_AES_128_GCM_SHA256"})
	is.NoErr(err)
	is.Equal(s.listen.CipherSuites, []uint16{tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_AES_128_GCM_SHA256})
}

// /flagz lists the values of the flags on the command line.
func TestFlagz(t *testing.T) {
	is := is.New(t)
	_, start := pair(t)
	_, url := start("--v=2", "--apiserver-count=0x3", "--event-ttl=90m", "--contention-profiling", "--service-account-issuer=https://a", "--service-account-issuer=https://b",
		"--feature-gates=WatchList=true,VolumeLimitScaling=true", "--etcd-prefix=/x")
	_, body := get(t, url+"/flagz")
	for _, line := range []string{"v=2", "apiserver-count=3", "event-ttl=1h30m0s", "contention-profiling=true", "service-account-issuer=[https://a,https://b]",
		"feature-gates=VolumeLimitScaling=true,WatchList=true", "etcd-prefix=/x", "goaway-chance=0"} {
		is.True(strings.Contains(body, "\n"+line+"\n"))
	}
}

// TestEndpointReconciler checks the errors of the flags about the endpoints of the Service kubernetes.
func TestEndpointReconciler(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	for flag, want := range map[string]string{
		"--apiserver-count=0":            "--apiserver-count should be a positive number, but value '0' provided",
		"--endpoint-reconciler-type=odd": "--endpoint-reconciler-type should be lease, master-count or none, but value 'odd' provided",
	} {
		_, err := read([]string{"--etcd-servers=a", flag})
		is.True(err != nil && strings.Contains(err.Error(), want)) // the error names the allowed values
	}
}

// TestEmulatedVersion checks the version that the drop-in serves for --emulated-version.
func TestEmulatedVersion(t *testing.T) {
	is := is.New(t)
	for given, want := range map[string]string{"1.35": "1.35 []", "kube=1.36": "1.36 []", "kube=1.33": "1.34 [--emulated-version 1.33 (the server has the API of 1.34)]"} {
		s, err := read([]string{"--etcd-servers=a", "--emulated-version=" + given})
		is.NoErr(err)
		is.Equal(fmt.Sprint(s.options.Replicas[0].Version, " ", s.idle), want)
	}
}
