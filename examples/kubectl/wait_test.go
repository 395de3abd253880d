package kubectl

import (
	"testing"

	"github.com/matryer/is"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/kubesim/kubesim/fake"
)

// setStatus sets the status of a pod, like a kubelet.
func setStatus(t *testing.T, client kubernetes.Interface, status string) {
	t.Helper()
	_, err := client.CoreV1().Pods("default").Patch(t.Context(), "front", types.MergePatchType,
		[]byte(`{"status":`+status+`}`), metav1.PatchOptions{}, "status")
	is.New(t).NoErr(err)
}

// kubectl wait watches, and ends when the event arrives.
func TestWait(t *testing.T) {
	tests := []struct {
		name, line, out string
		do              func(*testing.T, kubernetes.Interface)
	}{
		{
			"for a condition", "wait --for=condition=Ready pod/front --timeout 1m", "pod/front condition met\n",
			func(t *testing.T, c kubernetes.Interface) {
				setStatus(t, c, `{"conditions":[{"type":"Ready","status":"False"}]}`)
				setStatus(t, c, `{"conditions":[{"type":"Ready","status":"True"}]}`)
			},
		},
		{
			"for a value", "wait --for=jsonpath={.status.phase}=Running pod/front --timeout 1m", "pod/front condition met\n",
			func(t *testing.T, c kubernetes.Interface) { setStatus(t, c, `{"phase":"Running"}`) },
		},
		{
			"for the end", "wait --for=delete pod/front --timeout 1m", "pod/front condition met\n",
			func(t *testing.T, c kubernetes.Interface) {
				is.New(t).NoErr(c.CoreV1().Pods("default").Delete(t.Context(), "front", metav1.DeleteOptions{}))
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			k := waiting(t, func(_ *fake.Server, client kubernetes.Interface) { test.do(t, client) })
			k.do("create -f " + k.file(pods))
			is.New(t).Equal(k.do(test.line), test.out)
		})
	}
}

func TestWaitGivesUp(t *testing.T) {
	is := is.New(t)
	_, k := start(t)
	k.do("create -f " + k.file(pods))
	is.Equal(k.fail("wait --for=condition=Ready pod/front --timeout 10ms"), "error: timed out waiting for the condition on pods/front")
}
