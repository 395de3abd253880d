package etcd

import "github.com/kubesim/kubesim/fake/grpc"

// The types of package grpc that each file of this package uses. Messages are those of api/v3/etcdserverpb and mvccpb.
type (
	message     = grpc.Message
	builder     = grpc.Builder
	fieldNumber = grpc.Field
)

// The codes of gRPC that etcd uses.
const (
	unknown         = grpc.Unknown
	invalidArgument = grpc.InvalidArgument
	notFound        = grpc.NotFound
	exhausted       = grpc.ResourceExhausted
	outOfRange      = grpc.OutOfRange
	unimplemented   = grpc.Unimplemented
	unavailable     = grpc.UnavailableCode
)

// The errors of etcd (api/v3/v3rpc/rpctypes).
var (
	errEmptyKey     = grpc.NewError(invalidArgument, "etcdserver: key is not provided")
	errKeyNotFound  = grpc.NewError(invalidArgument, "etcdserver: key not found")
	errValueGiven   = grpc.NewError(invalidArgument, "etcdserver: value is provided")
	errLeaseGiven   = grpc.NewError(invalidArgument, "etcdserver: lease is provided")
	errDuplicateKey = grpc.NewError(invalidArgument, "etcdserver: duplicate key given in txn request")
	errCompacted    = grpc.NewError(outOfRange, "etcdserver: mvcc: required revision has been compacted")
	errFuture       = grpc.NewError(outOfRange, "etcdserver: mvcc: required revision is a future revision")
	errNoLease      = grpc.NewError(notFound, "etcdserver: requested lease not found")
	errLeaseExists  = grpc.NewError(grpc.FailedPrecondition, "etcdserver: lease already exists")
)

// requestOf returns the next message of a call, parsed. It returns io.EOF after the last one.
func requestOf(c *grpc.Call) (message, error) {
	in, err := c.Receive()
	if err != nil {
		return message{}, err
	}
	return grpc.Parse(in)
}
