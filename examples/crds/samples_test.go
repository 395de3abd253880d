package crds

import (
	"maps"
	"strings"
	"testing"

	"github.com/matryer/is"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// checkSamples checks that every sample is created, contains no field that its CRD does not have, and is read back as it was
// created. The samples in refused are rejected for the reason given there.
func checkSamples(t *testing.T, p project, c *cluster) {
	is := is.New(t)
	expected, accepted := maps.Clone(p.refused), 0
	for _, d := range documents(t, p, p.samples) {
		objects, ours := c.objects(t.Context(), d.object)
		if !ours {
			continue // Services, Secrets, kinds of other projects
		}
		made, err := objects.Create(t.Context(), d.object, metav1.CreateOptions{FieldValidation: "Strict"})
		if want, refused := p.refused[d.where]; refused {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: answered %v, want a refusal with %q", d.where, err, want)
			}
			delete(expected, d.where)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", d.where, err)
			continue
		}
		read, err := objects.Get(t.Context(), made.GetName(), metav1.GetOptions{})
		is.NoErr(err)
		// the stored object is equal to the response
		is.Equal(read, made)
		is.NoErr(objects.Delete(t.Context(), made.GetName(), metav1.DeleteOptions{})) // names are reused
		accepted++
	}
	is.Equal(len(expected), 0) // each entry in refused must match a sample
	is.True(accepted >= 3)
	t.Logf("%d samples", accepted)
}

// checkInvalid checks that a project's examples of invalid objects are rejected.
func checkInvalid(t *testing.T, p project, c *cluster) {
	docs := documents(t, p, p.invalid)
	for _, d := range docs {
		if _, err := c.create(t.Context(), d.object, metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
			t.Errorf("%s: answered %v, want 422 Invalid", d.where, err)
		}
	}
	t.Logf("%d refused", len(docs))
}
