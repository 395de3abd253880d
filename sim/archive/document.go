package archive

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/server"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/history"
	"github.com/kubesim/kubesim/sim/replica"
	"github.com/kubesim/kubesim/sim/trace"
)

// document is the JSON document in an archive: options, time, random numbers, replicas and faults.
type document struct {
	Format  int
	Module  string
	Options options
	Now     time.Time
	Oldest  uint64 // revision of the store's oldest view
	Made    bool   // whether the commit of the oldest view is in the archive
	Newest  uint64
	Streams []stream
	Compact history.Compaction
	Leases  []history.Lease
	Held    []string
	Routes  map[string]int
	Servers []apiServer
	Faults  *fault.State
	Trace   *trace.State // without its records; nil if nothing is recorded
	Last    [2]uint64

	Controllers *controller.State
	Lagging     map[string]map[string]uint64 // last revisions of lagging resources, by controller and resource

	// The state of controllers in format 1.
	Cleanups []cleanup `json:",omitempty"`
	Ensure   time.Time `json:",omitzero"`
}

// options is a config.Cluster. Formats 1 and 2 had other names for some of its fields.
type options struct{ config.Cluster }

// oldNames maps the field names in formats 1 and 2 to the current ones.
var oldNames = map[string]string{"Alone": "NoControllers", "Run": "Controllers", "CIDR": "ServiceCIDR", "Address": "Advertise",
	"Without": "WithoutPlugins", "Gap": "WriteGap", "Least": "MinRequestTimeout", "Plugged": "Admission"}

// UnmarshalJSON implements json.Unmarshaler.
func (o *options) UnmarshalJSON(text []byte) error {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	who, old := fields["Who"]
	if !old {
		return json.Unmarshal(text, &o.Cluster)
	}
	var before struct {
		Trace    trace.Options
		ClientCA string
	}
	if err := json.Unmarshal(text, &before); err != nil {
		return err
	}
	renamed := map[string]json.RawMessage{}
	for name, value := range fields { // order does not matter: the result is a map
		renamed[cmp.Or(oldNames[name], name)] = value
	}
	delete(renamed, "Trace")
	delete(renamed, "ClientCA")
	delete(renamed, "Nodes")
	flat, err := json.Marshal(renamed)
	if err != nil {
		return err
	}
	for _, part := range [][]byte{flat, who, fields["Nodes"]} { // the last two contain further fields of Cluster
		if err := json.Unmarshal(part, &o.Cluster); part != nil && err != nil {
			return err
		}
	}
	o.Trace, o.NoHashes = before.Trace.Keep, !before.Trace.Hash && before.Trace.Keep > 0
	if before.ClientCA != "" {
		o.ClientCA = []byte(before.ClientCA)
	}
	return nil
}

// cleanup is an unfinished deletion of a definition's objects.
type cleanup struct {
	Name string
	server.Cleanup
}

// stream is the state of a stream of random numbers.
type stream struct {
	Purpose string
	State   []byte
}

// apiServer is the state of a replica. It refers to views by revision. Views that are not in the store are in view:REV.
type apiServer struct {
	Position uint64
	Alone    map[string]uint64
	Lags     bool
	Cut      bool
	Filled   uint64
	Caches   map[string]cache
	Unready  map[string]replica.Window
}

// cache is a watch cache. Its events are event:REV.
type cache struct {
	Prefix   string
	Capacity int
	ListRev  uint64
	Evicted  bool
	Floor    uint64
	Ring     []at
}

// at is an event in a ring buffer, and the time at which it was received.
type at struct {
	Rev uint64
	At  time.Time
}

// stateOf returns the 16-byte state of a random number generator.
func stateOf(p rand.PCG) []byte {
	b, err := p.MarshalBinary()
	if err != nil || len(b) != pcgSize {
		panic(fmt.Sprintf("archive: the state of a PCG is %q: %v", b, err))
	}
	return b[len(pcgMagic):]
}

const (
	pcgMagic = "pcg:"
	pcgSize  = len(pcgMagic) + 16
)

// readState is the inverse of stateOf. It returns an error if b is not a valid state.
func readState(b []byte) (rand.PCG, error) {
	var p rand.PCG
	err := p.UnmarshalBinary(append([]byte(pcgMagic), b...))
	return p, err
}
