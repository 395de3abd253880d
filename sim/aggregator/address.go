package aggregator

import (
	"fmt"
	"net"
	"strconv"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
)

// Address returns the HOST:PORT at which an API server reaches a port of a service: its cluster IP, or its external name
// (k8s.io/apiserver, proxy.ResolveCluster). The errors are those of the real server.
func Address(objects registry.Reader, namespace, name string, port int64) (string, error) {
	service := objects.Get(services, namespace, name)
	if service == nil {
		return "", fmt.Errorf("service %q not found", name)
	}
	number := strconv.FormatInt(port, 10)
	ip := service.String("spec", "clusterIP")
	switch kind := service.String("spec", "type"); {
	case kind == "ExternalName":
		return net.JoinHostPort(service.String("spec", "externalName"), number), nil
	case kind == "ClusterIP" && ip == "None":
		return "", fmt.Errorf(`cannot route to service with ClusterIP "None"`)
	}
	for _, x := range service.List("spec", "ports") {
		if object.Object(x.(map[string]any)).Int64("port") == port {
			return net.JoinHostPort(ip, number), nil
		}
	}
	return "", fmt.Errorf("no service port %d found for service %q", port, name)
}
