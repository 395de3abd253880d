package zookeeper

import (
	"fmt"
	"sync"

	api "github.com/pravega/zookeeper-operator/api/v1beta1"
)

// servers are the znodes of all simulated ZooKeeper clusters, by the address of the cluster and the path. They outlive the operator.
type servers struct {
	mu    sync.Mutex
	nodes map[string]int32 // the version of each znode
}

// client is a connection to a simulated ZooKeeper. Its methods return the errors of the operator's own client.
type client struct {
	*servers
	address string
}

func (c *client) Connect(address string) error {
	c.address = address
	return nil
}

func (c *client) CreateNode(cluster *api.ZookeeperCluster, path string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.nodes[c.address+path]; ok {
		return fmt.Errorf("Error creating sub zkNode: %s: zk: node already exists", path)
	}
	c.nodes[c.address+path] = 0
	return nil
}

func (c *client) NodeExists(path string) (int32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	version, ok := c.nodes[c.address+path]
	if !ok {
		return -1, fmt.Errorf("Znode exists check failed for path %s: <nil>", path)
	}
	return version, nil
}

func (c *client) UpdateNode(path, data string, version int32) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if current, ok := c.nodes[c.address+path]; !ok || current != version {
		return fmt.Errorf("Error updating zkNode: zk: bad version")
	}
	c.nodes[c.address+path]++
	return nil
}

func (c *client) Close() {}
