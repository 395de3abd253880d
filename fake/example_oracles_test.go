package fake_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/fault"
)

// loudT is an exampleT that prints the first line of each failure.
type loudT struct{ exampleT }

func (loudT) Errorf(format string, args ...any) {
	line, _, _ := strings.Cut(fmt.Sprintf(format, args...), "\n")
	fmt.Println(line)
}

func ExampleServer_Never() {
	srv := fake.RunT(loudT{}) // in a test: its *testing.T
	srv.Never("a secret without data", func(view fake.View) error {
		for _, s := range view.List("secrets", "") {
			if len(s.Map("data")) == 0 {
				return errors.New(s.Name() + " has none")
			}
		}
		return nil
	})
	call(srv, "POST", secrets, `{"metadata":{"name":"a"},"stringData":{"password":"hunter2"}}`)
	call(srv, "POST", secrets, `{"metadata":{"name":"b"}}`)
	// Output:
	// kubesim: never a secret without data: b has none
}

func ExampleServer_Eventually() {
	srv := fake.RunT(exampleT{})
	call(srv, "POST", secrets, `{"metadata":{"name":"a"}}`)
	err := srv.Eventually("the secret is gone", time.Minute, func(view fake.View) error {
		if view.Get("secrets", "default", "a") != nil {
			return errors.New("it is there")
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// kubesim: eventually the secret is gone: not after 1m0s: it is there
}

func ExampleServer_Actions() {
	srv := fake.RunT(exampleT{})
	srv.Faults.Add(fault.On("delete", "secrets").Error(403, "Forbidden", "not today"))
	call(srv, "POST", secrets, `{"metadata":{"name":"a"}}`)
	call(srv, "DELETE", secrets+"/a", "")
	fmt.Print(srv.Actions("").Writes())
	// Output:
	// create secrets default/a 201
	// delete secrets default/a 403: not today
}

func ExampleServer_Permissions() {
	srv := fake.RunT(exampleT{})
	operator := srv.As("system:serviceaccount:shop:operator")
	req(operator, "GET", secrets)
	req(operator, "DELETE", secrets+"/a")
	fmt.Print(srv.Permissions("system:serviceaccount:shop:operator").ClusterRole())
	// Output:
	// apiVersion: rbac.authorization.k8s.io/v1
	// kind: ClusterRole
	// metadata:
	//   name: operator
	// # Without get, because these are read from a cache, which lists and watches: secrets.
	// rules:
	// - apiGroups: [""]
	//   resources: [secrets]
	//   verbs: [delete, list, watch]
}

func ExampleServer_Seed() {
	srv := fake.RunT(exampleT{})
	srv.Seed(map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{
		"name": "a", "namespace": "shop", "uid": "42", "finalizers": []string{"example.com/wait"}, "deletionTimestamp": "2025-12-31T00:00:00Z"}})
	_, secret := call(srv, "GET", "/api/v1/namespaces/shop/secrets/a", "")
	fmt.Println(secret.UID(), secret.DeletionTimestamp(), secret["type"])
	// Output:
	// 42 2025-12-31T00:00:00Z Opaque
}

// req sends a request as a user.
func req(as *fake.Identity, method, path string) {
	r, err := http.NewRequest(method, as.URL()+path, nil)
	if err != nil {
		panic(err)
	}
	res, err := as.Transport().RoundTrip(r)
	if err != nil {
		panic(err)
	}
	res.Body.Close()
}
