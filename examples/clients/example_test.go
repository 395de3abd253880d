package clients

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/fake"
)

func TestOperator(t *testing.T) {
	srv := fake.RunT(t) // the clock stands still at 2026-01-01, the seed is 1; closed when the test ends
	client := kubernetes.NewForConfigOrDie(&rest.Config{Host: srv.URL(), Transport: srv.Transport(), QPS: -1})

	a := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	if _, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), a, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	srv.Expire() // discards history: a watch from an earlier revision gets 410, and an informer has to list again
}
