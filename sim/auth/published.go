package auth

import (
	"encoding/pem"
	"slices"

	"github.com/kubesim/kubesim/sim/object"
)

// Published is the data of the ConfigMap extension-apiserver-authentication, from which aggregated API servers learn whom
// they may believe: those who sign the certificates of clients, and proxies. It is empty if there are neither
// (pkg/controlplane/controller/clusterauthenticationtrust).
func Published(clientCA []byte, r *RequestHeader) map[string]string {
	data := map[string]string{}
	if ca := bundle(clientCA); ca != "" {
		data["client-ca-file"] = ca
	}
	ca := bundle(r.ClientCA)
	if ca == "" {
		return data
	}
	data["requestheader-client-ca-file"] = ca
	data["requestheader-allowed-names"] = list(r.AllowedNames)
	data["requestheader-username-headers"] = list(r.UsernameHeaders)
	data["requestheader-group-headers"] = list(r.GroupHeaders)
	data["requestheader-extra-headers-prefix"] = list(r.ExtraHeaderPrefixes)
	if len(r.UIDHeaders) > 0 {
		data["requestheader-uid-headers"] = list(r.UIDHeaders)
	}
	return data
}

// list prints names as JSON, each once.
func list(names []string) string {
	once := []any{}
	for i, name := range names {
		if !slices.Contains(names[:i], name) {
			once = append(once, name)
		}
	}
	return string(object.JSON(once))
}

// bundle prints the certificates in a PEM text, each once, without what stands between them.
func bundle(text []byte) string {
	var out []byte
	var seen []string
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" && !slices.Contains(seen, string(block.Bytes)) {
			seen = append(seen, string(block.Bytes))
			out = append(out, pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes})...)
		}
	}
	return string(out)
}
