package engine

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// tokenView is a decoded continue token.
//
//	{"v":"meta.k8s.io/v1","rv":1234,"start":"/default/web\u0000"}      unpadded base64url
type tokenView struct {
	Version      string `json:"version"`
	Rev          string `json:"rv"`    // "-1" for the newest state, in which case the pages are not from one snapshot
	Start        string `json:"start"` // key at which the page begins
	Inconsistent bool   `json:"inconsistent"`
	Expired      bool   `json:"expired"` // the revision was compacted
}

// openToken decodes a continue token. compacted is the oldest revision that the store still has.
func openToken(token string, compacted uint64) (*tokenView, error) {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return nil, fmt.Errorf("this is not a continue token: it is not base64url: %v", err)
	}
	var t struct {
		Version string `json:"v"`
		Rev     int64  `json:"rv"`
		Start   string `json:"start"`
	}
	if err := json.Unmarshal(raw, &t); err != nil || t.Version == "" {
		return nil, fmt.Errorf("this is not a continue token: it does not contain {v, rv, start}, but %.80q", raw)
	}
	start := strings.TrimSuffix(strings.TrimPrefix(t.Start, "/"), "\x00")
	return &tokenView{Version: t.Version, Rev: strconv.FormatInt(t.Rev, 10), Start: start,
		Inconsistent: t.Rev < 0, Expired: t.Rev >= 0 && uint64(t.Rev) < compacted}, nil
}
