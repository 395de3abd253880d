package dropin

import (
	"errors"
	"io"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/cbor"
)

// ClusterVariable is the variable with the files for Cluster, with the list separator between them. kubesim gotest sets it.
const ClusterVariable = "KUBESIM_GOTEST_CLUSTER"

// Cluster starts an API server in this process for tests that expect a cluster, with the objects in files. It returns a kubeconfig
// of an administrator. The environment variables that configure servers apply, except those for files that are written when a
// server ends, because this one ends with the process. Cluster returns an error if a variable is invalid or an object cannot be
// loaded.
func Cluster(files []string, stderr io.Writer) (kubeconfig []byte, err error) {
	s := &servers{options: fake.Options{Clock: clock.System{}, NoControllers: true, WriteGap: writeGap, ReactionTime: reactionTime, CBOR: cbor.Codec{}, Replicas: make([]fake.ReplicaOptions, 1)},
		listen: fake.ListenOptions{TLS: true, WatchListGap: watchListGap}}
	if err := s.readVariables(); err != nil {
		return nil, err
	}
	if s.report != "" || s.permissions != "" {
		return nil, errors.New("KUBESIM_REPORT and KUBESIM_PERMISSIONS need a server that the tests stop, which --cluster does not start")
	}
	srv, _, err := s.start(stderr)
	if err != nil {
		return nil, err
	}
	if err := srv.Load(files...); err != nil {
		return nil, err
	}
	if _, err := srv.Listen(s.listen); err != nil {
		return nil, err
	}
	return srv.KubeConfig()
}
