package engine

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// tokenView is a continue token, opened.
//
//	{"v":"meta.k8s.io/v1","rv":1234,"start":"/default/web\u0000"}      base64url without padding
type tokenView struct {
	Version      string `json:"version"`
	Rev          string `json:"rv"`    // "-1": the newest state, so pages no longer show one snapshot
	Start        string `json:"start"` // the key after which the page begins
	Inconsistent bool   `json:"inconsistent"`
	Expired      bool   `json:"expired"` // the store has forgotten the revision
	Text         string `json:"text"`
}

// openToken reads a continue token; compacted is the oldest revision that the store can still show.
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
		return nil, fmt.Errorf("this is not a continue token: it does not hold {v, rv, start}, but %.80q", raw)
	}
	start := strings.TrimSuffix(strings.TrimPrefix(t.Start, "/"), "\x00")
	v := &tokenView{Version: t.Version, Rev: strconv.FormatInt(t.Rev, 10), Start: start}
	switch {
	case t.Rev < 0:
		v.Inconsistent = true
		v.Text = fmt.Sprintf("goes on after %s at the newest revision: no longer the moment that the list began with", start)
	case uint64(t.Rev) < compacted:
		v.Expired = true
		v.Text = fmt.Sprintf("goes on after %s at revision %d, which the store has forgotten: 410", start, t.Rev)
	default:
		v.Text = fmt.Sprintf("goes on after %s at revision %d", start, t.Rev)
	}
	return v, nil
}
