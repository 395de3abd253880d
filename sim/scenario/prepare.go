package scenario

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/auth"
)

// prepareCommands set options of the World. They must come before all other commands.
var prepareCommands = []Command{
	{Name: "seed", Usage: "N", Help: "set the seed of names, uids and random values; must come first", Example: "seed 7",
		Group: Worldly, Args: []Arg{Number}, needs: 1, plan: (*Options).setSeed, run: (*World).prepare},
	{Name: "replicas", Usage: "N", Help: "set the number of API servers over one store; must come first", Example: "replicas 2",
		Group: Worldly, Args: []Arg{Number}, needs: 1, plan: (*Options).setReplicas, run: (*World).prepare},
	{Name: "replica", Usage: "N [version=1.35] [gates=NAME=true,…] [serve=GROUP/VERSION=false] [peers=true]",
		Help: "configure one API server; must come first", Example: "replica 2 version=1.35",
		Group: Worldly, Args: []Arg{Replica, Word}, needs: 2, more: true, check: checkReplica, plan: (*Options).setReplica, run: (*World).prepare},
	{Name: "auth", Usage: "none|rbac|cluster", Help: "let RBAC decide for all clients except admin; must come first", Example: "auth rbac",
		Group: Worldly, Args: []Arg{Word}, needs: 1, Words: []Choice{{"none", "all requests are allowed"}, {"rbac", "RBAC decides"},
			{"cluster", "as in a new cluster: its roles and other objects exist, RBAC decides, and all clients are administrators"}},
		check: checkAuth, plan: (*Options).setAuth, run: (*World).prepare},
}

func checkReplica(op *Op, at int) error {
	for _, o := range op.Args[1:] {
		if err := SetReplica(&sim.ReplicaOptions{}, o); err != nil {
			return wrong(at, "%s", err)
		}
	}
	return nil
}

func checkAuth(op *Op, at int) error {
	if v := op.Args[0]; v != "none" && v != "rbac" && v != "cluster" {
		return wrong(at, "auth takes none, rbac or cluster, not %q", v)
	}
	return nil
}

// prepare sets options of the World, and recreates the cluster if the cluster's options have changed.
func (w *World) prepare(op *Op) error {
	if w.used {
		return fmt.Errorf("%s configures the world: put it before all other lines", op.Name)
	}
	before := w.options
	if err := FindCommand(op.Name).plan(&w.options, op); err != nil {
		w.options = before
		return err
	}
	if before.Whole == w.options.Whole && reflect.DeepEqual(before.Cluster, w.options.Cluster) {
		return nil
	}
	if err := w.boot(); err != nil {
		w.options = before
		_ = w.boot() // cannot fail: the same options have worked before
		return err
	}
	return nil
}

func (o *Options) setSeed(op *Op) (err error) {
	o.Seed, err = strconv.ParseUint(op.Args[0], 10, 64)
	return err
}

// setAuth sets the authorization mode.
func (o *Options) setAuth(op *Op) error {
	o.Auth, o.Whole = auth.AlwaysAllow, op.Args[0] == "cluster"
	if op.Args[0] == "rbac" {
		o.Auth = auth.RBAC
	}
	return nil
}

// setReplicas sets the number of replicas.
func (o *Options) setReplicas(op *Op) error {
	n, err := o.haveReplicas(op.Args[0])
	if err == nil {
		o.Replicas = o.Replicas[:n]
	}
	return err
}

// setReplica sets options of one replica.
func (o *Options) setReplica(op *Op) error {
	n, err := o.haveReplicas(op.Args[0])
	for _, text := range op.Args[1:] {
		if err == nil {
			err = SetReplica(&o.Replicas[n-1], text)
		}
	}
	return err
}

// haveReplicas parses a number n and extends the replicas to at least n. It replaces the slice and does not change the
// old one.
func (o *Options) haveReplicas(text string) (n int, err error) {
	const most = 9
	n, err = strconv.Atoi(text)
	switch {
	case err != nil:
		return 0, err
	case n > most:
		return 0, fmt.Errorf("there can be %d replicas, not %d", most, n)
	}
	o.Replicas = slices.Clone(o.Replicas)
	for len(o.Replicas) < n {
		o.Replicas = append(o.Replicas, sim.ReplicaOptions{})
	}
	return n, nil
}
