package main

import (
	"net"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/scenario"
)

// replicas is the value of --replica. Each use of the flag adds one API server.
type replicas []fake.ReplicaOptions

func (r *replicas) String() string { return "" }

// Set adds a replica, or returns an error if a setting is invalid. Its comma-separated settings are those of
// scenario.SetReplica:
//
//	version=1.35
//	gates=VolumeLimitScaling=true,GenericWorkload=true       several, up to the next setting
//	serve=autoscaling/v1=false
//	storage=horizontalpodautoscalers.autoscaling=autoscaling/v1
//	peers=true
func (r *replicas) Set(text string) error {
	var o fake.ReplicaOptions
	setting := ""
	for item := range strings.SplitSeq(text, ",") {
		if item == "" {
			continue
		}
		switch name, _, _ := strings.Cut(item, "="); name {
		case "gates", "serve", "storage":
			setting = name
		case "version", "peers":
			setting = ""
		default:
			if setting != "" {
				item = setting + "=" + item
			}
		}
		if err := scenario.SetReplica(&o, item); err != nil {
			return err
		}
	}
	*r = append(*r, o)
	return nil
}

// replicaOptions returns the options of the replicas that the flags request, or nil for one replica with the defaults.
func (f *serveFlags) replicaOptions() []fake.ReplicaOptions {
	all := f.replicas
	if len(all) == 0 && (f.count > 1 || !f.privileged) {
		all = make([]fake.ReplicaOptions, f.count)
	}
	for i := range all {
		all[i].NoPrivileged = !f.privileged
	}
	return all
}

// listenAll opens a listener for each replica, on the address's port and the following ones, or on free ports.
func (f *serveFlags) listenAll(srv *fake.Server) ([]*fake.Listener, error) {
	host, port, err := net.SplitHostPort(f.listen)
	if err != nil {
		return nil, usagef("serve: --listen %q: %v", f.listen, err)
	}
	first, err := strconv.Atoi(port)
	if err != nil && srv.Replicas() > 1 {
		return nil, usagef("serve: --listen %q: several replicas need the number of a port", f.listen)
	}
	if err := f.checkCertificate(); err != nil {
		return nil, err
	}
	var all []*fake.Listener
	for n := range srv.Replicas() {
		address := f.listen
		if n > 0 && first != 0 {
			address = net.JoinHostPort(host, strconv.Itoa(first+n))
		}
		o := fake.ListenOptions{Address: address, TLS: f.tls, CertificateFile: f.tlsCert, KeyFile: f.tlsKey, Replica: n + 1}
		o.AllowedOrigins, o.MaxConnections, o.MaxWatches = f.reach.origins, f.reach.connections, f.reach.watches
		if f.pace != nil {
			o.Filter = f.pace
		}
		l, err := srv.Listen(o)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}
