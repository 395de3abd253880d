package registry

import (
	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
	"github.com/kubesim/kubesim/sim/status"
)

// shardsGate is the feature gate of sharded lists and watches. Servers without it ignore the selector (KEP-5866).
const shardsGate = "ShardedListAndWatch"

// parseShards parses the selector of shards. The real server does so last, and does not translate the error.
func (r *Registry) parseShards(o *ListOptions) *status.Status {
	if o.ShardSelector == "" || !r.Server.Gates[shardsGate] {
		return nil
	}
	shards, err := cel.ParseShards(o.ShardSelector)
	if err != nil {
		return status.Plain("invalid shard selector: %s", err.Error())
	}
	o.shards = shards
	return nil
}

// inShard reports whether the object is in one of the selected shards.
func (o *ListOptions) inShard(it *resource.Item) bool {
	if o.shards.Empty() {
		return true
	}
	if o.shards.Field == selector.ShardByNamespace {
		return o.shards.Match(it.Namespace)
	}
	return o.shards.Match(it.Shared().UID())
}
