package admission

import (
	"testing"

	"github.com/matryer/is"
)

func TestServiceAccount(t *testing.T) {
	is := is.New(t)
	objects := stored{}.put(t, serviceAccounts, `{"metadata":{"name":"default","namespace":"ns"},"imagePullSecrets":[{"name":"s"}]}`,
		`{"metadata":{"name":"quiet","namespace":"ns"},"automountServiceAccountToken":false}`)
	admit := func(text string) (string, []string) {
		a := inNamespace(pods, parse(t, text), nil, objects)
		a.Random = func(int) int { return 0 }
		s := message(setServiceAccount(&Server{})(a))
		return s, volumeNames(a)
	}
	pod := parse(t, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c"},{"name":"d","volumeMounts":[{"name":"v","mountPath":"`+tokenPath+`"}]}]}}`)
	a := inNamespace(pods, pod, nil, objects)
	a.Random = func(int) int { return 0 }
	is.True(setServiceAccount(&Server{})(a) == nil)
	is.Equal(pod.String("spec", "serviceAccountName"), "default")
	is.Equal(pod.List("spec", "imagePullSecrets"), []any{map[string]any{"name": "s"}})
	is.Equal(volumeNames(a), []string{"kube-api-access-bbbbb"}) // one volume; the suffix of its name comes from the Cluster's random numbers
	is.Equal(len(pod.Objects("spec", "containers")[0].List("volumeMounts")), 1)
	is.Equal(len(pod.Objects("spec", "containers")[1].List("volumeMounts")), 1) // another volume is already mounted at the path

	_, volumes := admit(`{"metadata":{"name":"p"},"spec":{"serviceAccountName":"quiet","containers":[{"name":"c"}]}}`)
	is.Equal(len(volumes), 0) // the account disables it
	s, _ := admit(`{"metadata":{"name":"p"},"spec":{"serviceAccountName":"none","containers":[{"name":"c"}]}}`)
	is.Equal(s, `pods "p" is forbidden: error looking up service account ns/none: serviceaccount "none" not found`)
	s, _ = admit(`{"metadata":{"name":"p","annotations":{"kubernetes.io/config.mirror":"x"}},"spec":{"serviceAccountName":"default"}}`)
	is.Equal(s, `pods "p" is forbidden: a mirror pod may not reference service accounts`)
}

// volumeNames returns the names of the volumes of a pod.
func volumeNames(a *Attributes) (names []string) {
	for _, v := range a.Object.Objects("spec", "volumes") {
		names = append(names, v.String("name"))
	}
	return names
}
