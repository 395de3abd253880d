// Package dial stands in for package grpc in a file of upstream's that connects to etcd and waits for it: kubesim's etcd speaks
// no gRPC.
package dial

import (
	"google.golang.org/grpc"

	"github.com/kubesim/kubesim/sim/conformance/testdata/integration/server/programs"
	"k8s.io/kubernetes/test/integration/framework"
)

// DialOption is that of package grpc.
type DialOption = grpc.DialOption

// WithBlock returns how a client connects to the etcd of this run.
func WithBlock() DialOption {
	return programs.EtcdDialOptions([]string{framework.GetEtcdURL()})[0]
}
