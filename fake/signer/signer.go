// Package signer signs the tokens of service accounts with a program on a unix socket (--service-account-signing-endpoint, KEP-740).
//
//	TokenRequest ─ token.Authority ─ Sign ─▶ Signer ─ gRPC, v1.ExternalJWTSigner/Sign ─▶ header, signature
//	token        ─ token.Authority ─ Keys ─▶ Signer ◀─ FetchKeys, again at the time that the program asks for
//
// The requests are those of kube-apiserver (pkg/serviceaccount/externaljwt/plugin, k8s.io/externaljwt/apis/v1).
package signer

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubesim/kubesim/fake/grpc"
	"github.com/kubesim/kubesim/sim/auth/token"
)

// The times of kube-apiserver: how long a start waits for the program, how long a request may take, and when a request for the keys
// that failed is repeated.
const (
	startTimeout   = time.Minute
	requestTimeout = 10 * time.Second
	retryAfter     = 10 * time.Second
	dialAgain      = 100 * time.Millisecond
)

// minExpiration is the minimum lifetime of tokens that the program must support.
const minExpiration = 10 * time.Minute

// Signer implements token.External.
type Signer struct {
	client *grpc.Client
	end    context.CancelFunc

	mu            sync.Mutex
	keys          []*token.ExternalKey
	data, success time.Time      // of the keys; of the last request that succeeded
	signed        map[string]int // numbers of requests by code
	fetched       map[string]int
}

// Configure connects to the program of o.SigningEndpoint and sets o.External and, if it is 0, o.MaxExpiration. It waits up to a minute
// for the program. If there is no endpoint, it does nothing. close ends the connection.
func Configure(ctx context.Context, o *token.Options) (close func(), err error) {
	if o.SigningEndpoint == "" || o.SigningKey != nil || len(o.Keys) > 0 { // token.New returns the error for several keys
		return func() {}, nil
	}
	if err := token.CheckMaxExpiration(o.MaxExpiration); err != nil {
		return nil, err
	}
	s := &Signer{client: grpc.Dial(o.SigningEndpoint), signed: map[string]int{}, fetched: map[string]int{}}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	s.end = end
	longest, err := s.connect(ctx)
	if err == nil {
		switch {
		case o.MaxExpiration == 0:
			o.MaxExpiration = longest
		case o.MaxExpiration > longest:
			err = fmt.Errorf("service-account-max-token-expiration cannot be set longer than the token expiration supported by service-account-signing-endpoint: %s > %s", o.MaxExpiration, longest)
		}
	}
	if err != nil {
		s.close()
		return nil, err
	}
	o.External = s
	go s.refresh(life)
	return s.close, nil
}

func (s *Signer) close() {
	s.end()
	s.client.Close()
}

// connect waits for the program, and returns the longest lifetime of its tokens.
func (s *Signer) connect(ctx context.Context) (longest time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		_, err = s.fetch(ctx)
		if failed := (*grpc.Error)(nil); err == nil || !errors.As(err, &failed) || failed.Code != grpc.UnavailableCode {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(dialAgain):
			continue
		}
		break
	}
	if err != nil {
		return 0, fmt.Errorf("while setting up external-jwt-signer: while initially filling key cache: while performing initial cache fill: %w", err)
	}
	// MetadataResponse { max_token_expiration_seconds = 1 }
	m, err := s.client.Call(ctx, "/v1.ExternalJWTSigner/Metadata", &grpc.Builder{})
	if err != nil {
		return 0, fmt.Errorf("while setting up external-jwt-signer: %w", err)
	}
	if longest = time.Duration(m.Number(1)) * time.Second; longest < minExpiration {
		return 0, fmt.Errorf("max token life supported by external-jwt-signer (%ds) is less than acceptable (min %ds)", m.Number(1), int64(minExpiration/time.Second))
	}
	return longest, nil
}

// refresh requests the keys again when the program asks for it, until ctx is done.
func (s *Signer) refresh(ctx context.Context) {
	wait := time.Duration(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		timed, cancel := context.WithTimeout(ctx, requestTimeout)
		next, err := s.fetch(timed)
		cancel()
		if wait = next; err != nil { // the previous keys remain valid
			wait = retryAfter
		}
	}
}

// fetch requests the keys, and returns the time after which they should be requested again.
func (s *Signer) fetch(ctx context.Context) (again time.Duration, err error) {
	defer func() { s.count(s.fetched, err) }()
	// FetchKeysResponse { keys = 1, data_timestamp = 2 { seconds = 1, nanos = 2 }, refresh_hint_seconds = 3 }
	m, err := s.client.Call(ctx, "/v1.ExternalJWTSigner/FetchKeys", &grpc.Builder{})
	if err != nil {
		return 0, fmt.Errorf("while fetching token verification keys: while getting externally supported jwt signing keys: %w", err)
	}
	keys, err := keysOf(m)
	if err != nil {
		return 0, fmt.Errorf("while fetching token verification keys: %w", err)
	}
	stamp, err := m.Inner(2)
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys, s.data, s.success = keys, time.Unix(stamp.Number(1), stamp.Number(2)), time.Now()
	return time.Duration(m.Number(3)) * time.Second, nil
}

// keysOf returns the keys of a FetchKeysResponse.
func keysOf(m grpc.Message) (keys []*token.ExternalKey, err error) {
	if hint := m.Number(3); hint <= 0 {
		return nil, fmt.Errorf("found invalid refresh hint (%ds)", hint)
	}
	all, err := m.Messages(1) // Key { key_id = 1, key = 2, exclude_from_oidc_discovery = 3 }
	switch {
	case err != nil:
		return nil, err
	case len(all) == 0:
		return nil, errors.New("found no keys")
	case len(m.All(2)) == 0:
		return nil, errors.New("invalid data timestamp: proto: invalid nil Timestamp")
	}
	for _, k := range all {
		id, der := k.Text(1), k.Text(2)
		switch {
		case id == "" || len(id) > maxID:
			return nil, fmt.Errorf("found invalid public key id %q", id)
		case der == "":
			return nil, errors.New("found empty public key")
		}
		key, err := token.ParseExternalKey(id, []byte(der), k.Is(3))
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// maxID is the maximum length of the id of a key.
const maxID = 1024

// Keys implements token.External.
func (s *Signer) Keys() []*token.ExternalKey {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys
}

// Sign implements token.External.
func (s *Signer) Sign(ctx context.Context, claims string) (header, signature string, err error) {
	defer func() { s.count(s.signed, err) }()
	// SignJWTRequest { claims = 1 }, SignJWTResponse { header = 1, signature = 2 }
	m, err := s.client.Call(ctx, "/v1.ExternalJWTSigner/Sign", new(grpc.Builder).Text(1, claims))
	if err != nil {
		return "", "", fmt.Errorf("while signing jwt: %w", err)
	}
	header, signature = m.Text(1), m.Text(2)
	if err := s.checkHeader(header); err != nil {
		return "", "", fmt.Errorf("while validating header: %w", err)
	}
	if signature == "" {
		return "", "", errors.New("empty signature returned")
	}
	return header, signature, nil
}

// checkHeader checks the header of a token that the program has signed.
func (s *Signer) checkHeader(encoded string) error {
	text, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return fmt.Errorf("while unwrapping header: %w", err)
	}
	var header struct {
		Algorithm string `json:"alg"`
		KeyID     string `json:"kid"`
		Type      string `json:"typ"`
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&header); err != nil {
		return fmt.Errorf("while parsing header JSON: %w", err)
	}
	switch {
	case header.Type != "JWT":
		return errors.New("bad type")
	case header.KeyID == "":
		return errors.New("key id missing")
	case len(header.KeyID) > maxID:
		return errors.New("key id longer than 1 kb")
	case !slices.Contains([]string{"RS256", "ES256", "ES384", "ES512"}, header.Algorithm):
		return fmt.Errorf("bad signing algorithm %q", header.Algorithm)
	}
	return s.checkPublished(header.KeyID)
}

// checkPublished returns an error if the key is known and may not sign tokens. If it is not known, the keys are requested first.
func (s *Signer) checkPublished(id string) error {
	find := func() int {
		return slices.IndexFunc(s.Keys(), func(k *token.ExternalKey) bool { return k.ID() == id })
	}
	i := find()
	if i < 0 {
		ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
		defer cancel()
		if _, err := s.fetch(ctx); err != nil {
			return nil //nolint:nilerr // the token will not be accepted
		}
		i = find()
	}
	if keys := s.Keys(); i >= 0 && i < len(keys) && keys[i].Unpublished {
		return fmt.Errorf("key used for signing JWT (kid: %s) is excluded from OIDC discovery docs", id)
	}
	return nil
}

// count counts a request by its code.
func (s *Signer) count(in map[string]int, err error) {
	code := "OK"
	if err != nil {
		code = "Unknown"
		if failed := (*grpc.Error)(nil); errors.As(err, &failed) && failed.Code == grpc.UnavailableCode {
			code = "Unavailable"
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	in[code]++
}

// Metrics returns the metrics of the requests in the text format of Prometheus (pkg/serviceaccount/externaljwt/metrics).
func (s *Signer) Metrics() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	const prefix = "apiserver_externaljwt_"
	var b strings.Builder
	for _, x := range []struct {
		name, help string
		at         time.Time
	}{
		{"fetch_keys_data_timestamp", "Unix Timestamp in seconds of the last successful FetchKeys data_timestamp value returned by the external signer", s.data},
		{"fetch_keys_success_timestamp", "Unix Timestamp in seconds of the last successful FetchKeys request", s.success},
	} {
		fmt.Fprintf(&b, "# HELP %s%s [ALPHA] %s\n# TYPE %[1]s%[2]s gauge\n%[1]s%[2]s %[4]v\n", prefix, x.name, x.help, float64(x.at.UnixNano())/1e9)
	}
	for _, x := range []struct {
		name, help string
		counts     map[string]int
	}{{"fetch_keys_request_total", "Total attempts at syncing supported JWKs", s.fetched}, {"sign_request_total", "Total attempts at signing JWT", s.signed}} {
		fmt.Fprintf(&b, "# HELP %s%s [ALPHA] %s\n# TYPE %[1]s%[2]s counter\n", prefix, x.name, x.help)
		for _, code := range []string{"OK", "Unavailable", "Unknown"} {
			if n := x.counts[code]; n > 0 {
				fmt.Fprintf(&b, "%s%s{code=%q} %d\n", prefix, x.name, code, n)
			}
		}
	}
	return b.String()
}
