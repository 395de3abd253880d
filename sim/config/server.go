package config

// Server is the configuration of one API server. The zero value is a server of schema.Default with all defaults.
type Server struct {
	// Version is a Kubernetes minor, "1.35", or a release of it. The default is schema.Default.
	Version string
	// FeatureGates turns gates on or off. Only gates that decide about fields and values of objects are known.
	FeatureGates map[string]bool
	// Serve switches off APIs of a default server, as --runtime-config does: a resource ("batch/v1/cronjobs"), a group version
	// ("autoscaling/v1"), all of "api/ga", "api/beta" or "api/alpha", or "api/all" ("api/legacy" has no effect). The most specific entry
	// counts.
	Serve map[string]bool
	// StorageVersions has the storage versions of resources with several served versions: "horizontalpodautoscalers.autoscaling":
	// "autoscaling/v1".
	StorageVersions map[string]string
	// PeerProxy proxies requests for resources that this server does not serve to another one that does, and publishes the
	// resources of all servers as aggregated discovery, as --peer-ca-file makes a server of 1.36 do (KEP-4020, gate
	// UnknownVersionInteroperabilityProxy). It is not the default of any version.
	PeerProxy bool
	// NoPrivileged refuses privileged containers, as --allow-privileged=false does. By default they are allowed, as in clusters of kubeadm
	// and kind; kube-apiserver's own default is to refuse them.
	NoPrivileged bool
	// Flags are further flags of kube-apiserver and their values, which /flagz shows.
	Flags map[string]string `json:",omitempty"`
}
