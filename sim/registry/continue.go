package registry

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
)

// continueToken is the decoded form of a list's continue token. It holds the key at which the next page begins and the revision at
// which the list is read. A negative revision means the newest one: the list is then no longer one snapshot (API concepts,
// "Retrieving large results sets in chunks"). The server itself writes -1.
//
//	{"v":"meta.k8s.io/v1","rv":1234,"start":"/default/web\u0000"}      base64url without padding
//
// start is relative to the key of the collection. It begins with a slash in tokens of lists served by a watch cache, but not in
// tokens of lists served by the store. Both forms are accepted.
type continueToken struct {
	Version string `json:"v"`
	Rev     int64  `json:"rv"`
	Start   string `json:"start"`
}

const tokenVersion = "meta.k8s.io/v1"

// inconsistent is the revision of a token that continues with the newest state instead of a snapshot.
const inconsistent = -1

func (t continueToken) encode() string {
	data, err := json.Marshal(t)
	if err != nil {
		panic("registry: a continue token cannot be printed: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

// encodeContinue returns the token for the page after the key last. cached reports whether a watch cache serves the list.
func encodeContinue(prefix, last string, rev int64, cached bool) string {
	start := strings.TrimPrefix(last, prefix) + "\x00"
	if cached {
		start = "/" + start
	}
	return continueToken{Version: tokenVersion, Rev: rev, Start: start}.encode()
}

// decodeContinue returns the key at which the page begins and the revision of the list. It returns an error if the token is
// invalid.
func decodeContinue(text, prefix string) (from string, rev int64, err error) {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return "", 0, fmt.Errorf("continue key is not valid: %v", err)
	}
	var t continueToken
	if err := json.Unmarshal(data, &t); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field == "" { // in the real server, the type belongs to another package
			err = errors.New("json: cannot unmarshal " + wrong.Value + " into Go value of type storage.continueToken")
		}
		return "", 0, fmt.Errorf("continue key is not valid: %v", err)
	}
	switch {
	case t.Version != tokenVersion:
		return "", 0, fmt.Errorf("continue key is not valid: server does not recognize this encoded version %s", t.Version)
	case t.Rev == 0:
		return "", 0, errors.New("continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)")
	case t.Start == "":
		return "", 0, errors.New("continue key is not valid: encoded start key empty (version meta.k8s.io/v1)")
	}
	key := t.Start
	if !strings.HasPrefix(key, "/") {
		key = "/" + key
	}
	if path.Clean(key) != key {
		return "", 0, fmt.Errorf("continue key is not valid: %s", t.Start)
	}
	return prefix + key[1:], t.Rev, nil
}
