package fake_test

import (
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

// shardOf returns the selector of shard i of n by a field.
func shardOf(field string, i, n int64) string {
	all := new(big.Int).Lsh(big.NewInt(1), 64)
	bound := func(i int64) *big.Int { return new(big.Int).Div(new(big.Int).Mul(all, big.NewInt(i)), big.NewInt(n)) }
	return fmt.Sprintf("shardRange(%s, '0x%016x', '0x%016x')", field, bound(i), bound(i+1))
}

// withShards returns a client of a server with the feature gate for shards.
func withShards(t *testing.T) client {
	return client{t, fake.RunT(t, fake.Options{Replicas: []fake.ReplicaOptions{{FeatureGates: map[string]bool{"ShardedListAndWatch": true}}}})}
}

// TestShards checks that lists and watches of several shards contain each object once.
func TestShards(t *testing.T) {
	const shards = 3
	for _, field := range []string{"object.metadata.uid", "object.metadata.namespace"} {
		t.Run(field, func(t *testing.T) {
			is := is.New(t)
			c := withShards(t)
			selected := func(i int) string { return "shardSelector=" + url.QueryEscape(shardOf(field, int64(i), shards)) }
			watches := make([]*stream, shards)
			for i := range watches {
				watches[i] = c.open("/api/v1/configmaps?watch=1&labelSelector=mine&" + selected(i))
			}
			for i := range 30 {
				ns := strings.Repeat("ab", 1+i%10)                                              // the hashes of similar names are near each other
				c.do("POST", "/api/v1/namespaces", fmt.Sprintf(`{"metadata":{"name":%q}}`, ns)) // or it exists
				c.do("POST", "/api/v1/namespaces/"+ns+"/configmaps", fmt.Sprintf(`{"metadata":{"name":"m-%d","labels":{"mine":""}}}`, i))
			}
			seen := map[string]int{}
			for i, watch := range watches {
				_, body := c.do("GET", "/api/v1/configmaps?labelSelector=mine&"+selected(i), "")
				list := c.parse(body)
				is.Equal(list.Map("metadata")["shardInfo"], map[string]any{"selector": shardOf(field, int64(i), shards)})
				is.True(len(list.List("items")) > 0) // each shard has some of thirty objects
				left := map[string]bool{}
				for _, item := range list.List("items") {
					name := object.Object(item.(map[string]any)).Name()
					left[name] = true
					seen[name]++
				}
				for len(left) > 0 {
					name := watch.must("ADDED").Name()
					is.True(left[name]) // the watch has the objects of the list, and no others
					delete(left, name)
				}
			}
			is.Equal(len(seen), 30)
			for name, n := range seen {
				if n != 1 {
					t.Errorf("%s is in %d shards", name, n)
				}
			}
		})
	}
}

// TestShardsElsewhere checks which responses name their shards, and requests other than a list or watch.
func TestShardsElsewhere(t *testing.T) {
	is := is.New(t)
	c := withShards(t)
	for i := range 8 {
		c.do("POST", someMaps, fmt.Sprintf(`{"metadata":{"name":"m-%d"}}`, i))
	}
	half := "?shardSelector=" + url.QueryEscape(shardOf("object.metadata.uid", 0, 2))
	named := func(accept string) bool {
		_, _, body := c.ask("GET", someMaps+half, "", accept, "")
		return strings.Contains(body, "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')")
	}
	is.True(named("application/json"))
	is.True(named("application/vnd.kubernetes.protobuf"))
	is.True(!named("application/json;as=Table;v=v1;g=meta.k8s.io"))
	is.True(!named("application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"))

	count := func(query string) int {
		_, body := c.do("GET", someMaps+query, "")
		return len(c.parse(body).List("items"))
	}
	all, some := count(""), count(half)
	is.True(0 < some && some < all)
	is.Equal(count(half+"&limit=1"), 1)
	c.do("DELETE", someMaps+half, "")
	is.Equal(count(""), all-some)

	off := client{t, fake.RunT(t, fake.Options{})}
	off.do("POST", someMaps, `{"metadata":{"name":"a"}}`)
	code, body := off.do("GET", someMaps+"?shardSelector=nonsense", "")
	is.Equal(code, http.StatusOK) // without the feature gate it is ignored
	is.True(!strings.Contains(body, "shardInfo"))
	for _, path := range []string{someMaps + "?shardSelector=nonsense", someMaps + "?watch=1&shardSelector=nonsense"} {
		code, body = c.do("GET", path, "")
		is.Equal(code, http.StatusInternalServerError)
		is.Equal(c.parse(body)["message"], "invalid shard selector: unexpected expression kind 3; expected shardRange() call or || operator")
	}
}
