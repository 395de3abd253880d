package scenario

import (
	"net/url"
	"testing"

	"github.com/matryer/is"
)

// TestEntry checks which requests become calls or streams of a history.
func TestEntry(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	const pods = "/api/v1/namespaces/default/pods"

	call, stream := Entry("POST", pods, nil, []byte(`{"metadata":{"name":"a"}}`))
	is.True(call != nil && stream == nil)
	is.Equal(call.Resource, "pods")

	call, stream = Entry("GET", pods, url.Values{"limit": {"5"}}, nil)
	is.True(call != nil && stream == nil)
	is.Equal(call.Scope.Resource, "pods")
	is.Equal(call.Scope.Namespace, "default")

	call, stream = Entry("GET", pods, url.Values{"watch": {"1"}}, nil)
	is.True(call == nil && stream != nil)
	is.Equal(stream.Scope.Resource, "pods")

	call, stream = Entry("GET", "/version", nil, nil)
	is.True(call == nil && stream == nil) // no promise covers it
}
