package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestUpgrade(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		want     []string
	}{
		{"1.36", "1.37", []string{
			"testdata/upgrade/new.yaml:7:73 StatefulSet shop/cache: Kubernetes 1.37 sets spec.updateStrategy.rollingUpdate.maxUnavailable to 1 [1.37]",
			"testdata/upgrade/new.yaml:7:73 StatefulSet shop/cache: in a new object, Kubernetes 1.37 sets spec.updateStrategy.rollingUpdate.maxUnavailable to 2 [1.37]",
		}},
		{"1.37", "1.36", []string{
			"testdata/upgrade/new.yaml:7:73 StatefulSet shop/cache: in a new object, Kubernetes 1.36 drops spec.updateStrategy.rollingUpdate.maxUnavailable, which was 2 [1.36]",
			"testdata/upgrade/new.yaml:16:16 HorizontalPodAutoscaler shop/idle: spec.minReplicas: Invalid value: 0: must be greater than or equal to 1 [1.36]",
		}},
		{"1.36", "1.34", []string{
			`testdata/upgrade/dump.yaml:1 MutatingAdmissionPolicy team: no matches for kind "MutatingAdmissionPolicy" in version "admissionregistration.k8s.io/v1" [1.34]`,
			"testdata/upgrade/dump.yaml:1 MutatingAdmissionPolicy team: not imported: no API server serves MutatingAdmissionPolicy in version admissionregistration.k8s.io/v1 [1.34]",
		}},
		{"1.36", "1.36", nil},
	} {
		is := is.New(t)
		s, err := Read([]string{"testdata/upgrade/new.yaml"}, nil)
		is.NoErr(err)
		r, err := Upgrade(s, c.from, c.to, Options{Import: []string{"testdata/upgrade/dump.yaml"}})
		is.NoErr(err)
		var have []string
		for _, f := range r.Findings {
			have = append(have, f.place()+" "+r.text(f))
		}
		is.Equal(have, c.want) // from c.from to c.to
	}
}

// TestUpgradeRealCluster checks what changes for the objects of a real cluster, which TestRecordImport of fake has recorded.
func TestUpgradeRealCluster(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r, err := Upgrade(&Sources{}, "1.36", "1.37", Options{Import: []string{"../testdata/import/real/cluster.json.gz"}})
	is.NoErr(err)
	var have []string
	for _, f := range r.Findings {
		have = append(have, r.text(f))
	}
	slices.Sort(have)
	is.Equal(have, []string{
		"CSIDriver disks.example.com: Kubernetes 1.37 sets spec.preventPodSchedulingIfMissing to false [1.37]",
		"CSINode node-1: Kubernetes 1.37 sets status to {} [1.37]",
		"StatefulSet data/db: Kubernetes 1.37 sets spec.updateStrategy.rollingUpdate.maxUnavailable to 1 [1.37]",
	})
	is.True(r.Imported > 100)
}

// TestImport checks that the objects of the files are checked against the imported ones, such as definitions and namespaces.
func TestImport(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s, err := Read([]string{"testdata/upgrade/new.yaml"}, nil)
	is.NoErr(err)
	r, err := Run(s, Options{Import: []string{"testdata/upgrade/dump.yaml"}})
	is.NoErr(err)
	var have []string
	for _, f := range r.Findings {
		have = append(have, f.Message)
	}
	is.Equal(have, []string{"spec.minReplicas: Invalid value: 0: must be greater than or equal to 1", `namespaces "other" not found`})
	_, err = Run(s, Options{Import: []string{"testdata/none"}})
	is.True(err != nil) // there is no such dump
}

// TestWebhooks checks that webhooks in the files are validated, but not called.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s, err := Read([]string{"-"}, strings.NewReader(`apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: all}
webhooks:
- name: all.example.com
  clientConfig: {url: "https://127.0.0.1:1/"}
  rules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"]}]
  sideEffects: None
  admissionReviewVersions: [v1]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: none}
webhooks: [{name: a}]
`))
	is.NoErr(err)
	r, err := Run(s, Options{})
	is.NoErr(err)
	is.Equal(r.Refused, 1)
	is.Equal(r.Answers[2].Verdicts["1.36"].Code, 422) // the second configuration
	is.Equal(r.Answers[1].Verdicts["1.36"].Code, 201)
}
