package gotext

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
)

func TestSameGo(t *testing.T) {
	tests := []struct {
		a, b string
		same bool
	}{
		{`{}`, `{"containers":[],"nodeSelector":{},"nodeName":""}`, true},
		{`{"containers":[{"name":"a"}]}`, `{"containers":[{"name":"a","resources":{},"stdin":false,"args":[]}]}`, true},
		{`{"containers":[{"name":"a"}]}`, `{"containers":[{"name":"b"}]}`, false},
		{`{"containers":[{"name":"a"}]}`, `{"containers":[{"name":"a"},{"name":"b"}]}`, false},
		{`{"containers":[{"name":"a"}]}`, `{"containers":[{"name":"a","securityContext":{}}]}`, false},
		{`{}`, `{"securityContext":{}}`, true},
		{`{}`, `{"hostNetwork":true}`, false},
		{`{}`, `{"affinity":{}}`, false},
		{`{"nodeSelector":{"a":"b"}}`, `{"nodeSelector":{"a":"c"}}`, false},
		{`{"volumes":[{"name":"v","emptyDir":{}}]}`, `{"volumes":[{"name":"v"}]}`, false},
		{`{"overhead":{"memory":"512Mi"}}`, `{"overhead":{"memory":"536870912"}}`, true},
		{`{"overhead":{"memory":"512Mi"}}`, `{"overhead":{"memory":"536870913"}}`, false},
		{`{"overhead":{"memory":"1"}}`, `{"overhead":{"cpu":"1"}}`, false},
		{`{"overhead":{}}`, `{"overhead":{"cpu":"0"}}`, false},
		{`{"volumes":[{"name":"v","emptyDir":{"sizeLimit":"1Gi"}}]}`, `{"volumes":[{"name":"v","emptyDir":{"sizeLimit":"1073741824"}}]}`, true},
		{`{"volumes":[{"name":"v","emptyDir":{"sizeLimit":"0"}}]}`, `{"volumes":[{"name":"v","emptyDir":{}}]}`, false},
		{`{"terminationGracePeriodSeconds":0}`, `{}`, false},
		{`{"topologySpreadConstraints":[{"labelSelector":{}}]}`, `{"topologySpreadConstraints":[{"labelSelector":{"matchLabels":{}}}]}`, true},
		{`{"topologySpreadConstraints":[{"labelSelector":{}}]}`, `{"topologySpreadConstraints":[{}]}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.a+" "+tt.b, func(t *testing.T) {
			is := is.New(t)
			a, err := object.Parse([]byte(tt.a))
			is.NoErr(err) // an object
			b, err := object.Parse([]byte(tt.b))
			is.NoErr(err)                          // an object
			is.Equal(Same(PodSpec, a, b), tt.same) // as in memory
			is.Equal(Same(PodSpec, b, a), tt.same) // in both directions
		})
	}
}
