package authorization_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

const head = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\n"

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(head+text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestReload checks that the authorizers of the file apply, and those of a changed file if it is valid.
func TestReload(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "authorization.yaml")
	const both = "authorizers: [{type: RBAC, name: rbac}, {type: AlwaysDeny, name: deny}]"
	write(t, file, both)
	srv, err := fake.New(fake.Options{AuthorizationConfig: file})
	is.NoErr(err)
	t.Cleanup(srv.Close)
	get := func() string {
		q, err := http.NewRequest(http.MethodGet, srv.URL()+"/api/v1/pods", nil)
		is.NoErr(err)
		q.Header.Set("Authorization", "Bearer alicetoken")
		res, err := (&http.Client{Transport: srv.Transport()}).Do(q)
		is.NoErr(err)
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		is.NoErr(err)
		is.Equal(res.StatusCode, http.StatusForbidden)
		return string(text)
	}
	denied := func() bool { return strings.Contains(get(), "Everything is forbidden.") }
	is.True(denied())
	write(t, file, "authorizers: [{type: RBAC, name: rbac}]")
	is.True(!denied())
	write(t, file, "authorizers: [{type: AlwaysAllow, name: allow}]")
	is.True(!denied()) // a type that the server did not start with: the previous authorizers stay, and do not allow the request
	write(t, file, "authorizers: []")
	is.True(!denied())
	write(t, file, both)
	is.True(denied())
}

// TestErrors checks the errors of files with which a server does not start.
func TestErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"authorizers: []":                                              "authorizers: Required value: at least one authorization mode must be defined",
		"authorizers: [{type: X, name: x}]":                            `authorizers[0].type: Unsupported value: "X": supported values: "ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"`,
		"authorizers: [{name: x}]":                                     "authorizers[0].type: Required value",
		"authorizers: [{type: RBAC}]":                                  "authorizers[0].name: Required value",
		"authorizers: [{type: RBAC, name: a_b}]":                       `authorizers[0].name: Invalid value: "a_b": authorizer name is invalid: a lowercase RFC 1123 subdomain`,
		"authorizers: [{type: Webhook, name: w}]":                      "authorizers[0].type: Forbidden: kubesim does not simulate authorizers of the type Webhook",
		"authorizers: [{type: RBAC, name: a}, {type: RBAC, name: b}]":  `authorizers[1].type: Duplicate value: "RBAC"`,
		"authorizers: [{type: RBAC, name: a}, {type: Node, name: a}]":  `authorizers[1].name: Duplicate value: "a"`,
		"authorizers: [{type: RBAC, name: a, webhook: {timeout: 3s}}]": `authorizers[0].webhook: Invalid value: "non-null": may only be specified when type=Webhook`,
		"authorisers: []":                                              `strict decoding error: unknown field "authorisers"`,
	} {
		t.Run(text, func(t *testing.T) {
			is := is.New(t)
			file := filepath.Join(t.TempDir(), "authorization.yaml")
			write(t, file, text)
			_, err := fake.New(fake.Options{AuthorizationConfig: file})
			is.True(err != nil)
			is.True(strings.HasPrefix(err.Error(), "failed to load AuthorizationConfiguration from file: "+want))
		})
	}
}
