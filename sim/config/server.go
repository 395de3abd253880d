package config

// Server says what one API server is like. The zero value is a server of schema.Default with all defaults.
type Server struct {
	// Version is a Kubernetes minor, "1.35", or a release of it. The default is schema.Default.
	Version string
	// FeatureGates turns gates on or off. Only gates that decide about fields and values of objects are known.
	FeatureGates map[string]bool
	// Serve switches off APIs of a default server, as --runtime-config does: a resource ("batch/v1/cronjobs"), a group version
	// ("autoscaling/v1"), all of "api/ga", "api/beta" or "api/alpha", or "api/all" ("api/legacy" has no effect). The most specific entry
	// counts.
	Serve map[string]bool
	// StorageVersions says in which of its served versions a resource of several is stored:
	// "horizontalpodautoscalers.autoscaling": "autoscaling/v1".
	StorageVersions map[string]string
	// PeerProxy passes requests for what this server does not serve on to another one that does, and publishes what all of
	// them serve as aggregated discovery, as --peer-ca-file makes a server of 1.36 do (KEP-4020, gate
	// UnknownVersionInteroperabilityProxy). It is not the default of any version.
	PeerProxy bool
	// NoPrivileged refuses privileged containers, as --allow-privileged=false does. By default they are allowed, as in clusters of kubeadm
	// and kind; kube-apiserver's own default is to refuse them.
	NoPrivileged bool
	// Flags are further flags of kube-apiserver and their values, which /flagz says.
	Flags map[string]string `json:",omitempty"`
}
