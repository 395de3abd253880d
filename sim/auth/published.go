package auth

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/object"
)

// Signers are the authorities whose certificates the server trusts.
type Signers struct {
	// ClientCA is a bundle of PEM certificates that sign client certificates (--client-ca-file), or nil if there are none.
	ClientCA []byte
	// Proxies configures the proxies that may set the user of a request.
	Proxies RequestHeader
}

// Keys of the ConfigMap extension-apiserver-authentication.
const (
	clientCAKey      = "client-ca-file"
	proxyCAKey       = "requestheader-client-ca-file"
	allowedNamesKey  = "requestheader-allowed-names"
	usernamesKey     = "requestheader-username-headers"
	groupsKey        = "requestheader-group-headers"
	extraPrefixesKey = "requestheader-extra-headers-prefix"
	uidsKey          = "requestheader-uid-headers"
)

// slack is the time for which an expired certificate remains published.
const slack = 5 * time.Minute

// Publish returns the data of the ConfigMap extension-apiserver-authentication, from which aggregated API servers learn which
// authorities and proxies to trust. It merges the published data with s, and omits certificates that expired more than five minutes
// before now. The result is empty if neither contains certificates. Publish returns an error if the published data cannot be parsed
// (kube-apiserver, clusterauthenticationtrust).
func (s *Signers) Publish(published map[string]string, now time.Time) (map[string]string, error) {
	data := map[string]string{}
	ca, err := bundle(published[clientCAKey]+"\n"+string(s.ClientCA), now)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", clientCAKey, err)
	}
	if ca != "" {
		data[clientCAKey] = ca
	}
	ca, err = bundle(published[proxyCAKey]+"\n"+string(s.Proxies.ClientCA), now)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", proxyCAKey, err)
	}
	lists := map[string][]string{allowedNamesKey: s.Proxies.AllowedNames, usernamesKey: s.Proxies.UsernameHeaders,
		groupsKey: s.Proxies.GroupHeaders, extraPrefixesKey: s.Proxies.ExtraHeaderPrefixes, uidsKey: s.Proxies.UIDHeaders}
	for _, key := range slices.Sorted(maps.Keys(lists)) {
		text, n, err := join(published[key], lists[key])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		if ca != "" && (n > 0 || key != uidsKey) {
			data[key] = text
		}
	}
	if ca != "" {
		data[proxyCAKey] = ca
	}
	return data, nil
}

// join adds names to the published JSON list, without duplicates. It returns the new list and its length n.
func join(published string, others []string) (text string, n int, err error) {
	var names []string
	if published != "" {
		if err := json.Unmarshal([]byte(published), &names); err != nil {
			return "", 0, err
		}
	}
	once := []any{}
	for _, name := range append(names, others...) {
		if !slices.Contains(once, any(name)) {
			once = append(once, name)
		}
	}
	return string(object.JSON(once)), len(once), nil
}

// bundle returns the unexpired certificates in a PEM text, without duplicates and without other blocks.
func bundle(text string, now time.Time) (string, error) {
	var out []byte
	var seen [][]byte
	for block, rest := pem.Decode([]byte(text)); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" || slices.ContainsFunc(seen, func(other []byte) bool { return bytes.Equal(other, block.Bytes) }) {
			continue
		}
		expires, err := expiry(block.Bytes)
		if err != nil {
			return "", err
		}
		if !expires.After(now.Add(-slack)) {
			continue
		}
		seen = append(seen, block.Bytes)
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes})...)
	}
	return string(out), nil
}
