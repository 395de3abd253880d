package ctrl_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/ctrl"
)

// exampleT stands for the *testing.T of a test.
type exampleT struct{ cleanup []func() }

func (*exampleT) Helper()                           {}
func (*exampleT) Logf(string, ...any)               {}
func (*exampleT) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (*exampleT) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (t *exampleT) Cleanup(f func())                { t.cleanup = append(t.cleanup, f) }

// end runs the cleanup functions, as a test does when it ends.
func (t *exampleT) end() {
	for i := len(t.cleanup) - 1; i >= 0; i-- {
		t.cleanup[i]()
	}
}

// The manager copies ConfigMaps to Secrets. In a testing/synctest bubble this would take no real time.
func ExampleStart() {
	t := &exampleT{} // in a test, use its *testing.T
	defer t.end()
	srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
	ctrl.Start(t, srv, setup)
	c := ctrl.Client(t, srv, nil)
	if err := c.Create(context.Background(), &corev1.ConfigMap{ObjectMeta: named("a")}); err != nil {
		panic(err)
	}
	fmt.Println(srv.Eventually("a is copied", time.Minute, exists("a")))
	// Output: <nil>
}
