package programs

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
)

// oldWebhooks is the version of webhook configurations that tests can only have by putting them into etcd.
const oldWebhooks = "admissionregistration.k8s.io/v1beta1"

// isWebhook reports whether a value that is put into etcd is such a configuration.
func isWebhook(value []byte) bool {
	var kind struct{ APIVersion string }
	return json.Unmarshal(value, &kind) == nil && kind.APIVersion == oldWebhooks
}

// createWebhook creates a webhook configuration that a test puts into etcd below a key, RESOURCE/NAME, through the API. It has the
// version that is served, and sideEffects that this version allows: only a dry run sees a difference.
func (s *Server) createWebhook(ctx context.Context, key string, value []byte) error {
	var object map[string]any
	if err := json.Unmarshal(value, &object); err != nil {
		return err
	}
	object["apiVersion"] = "admissionregistration.k8s.io/v1"
	webhooks, _ := object["webhooks"].([]any)
	for _, w := range webhooks {
		if webhook, ok := w.(map[string]any); ok && webhook["sideEffects"] == "Unknown" {
			webhook["sideEffects"] = "None"
		}
	}
	body, err := json.Marshal(object)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Config.Host+"/apis/admissionregistration.k8s.io/v1/"+path.Dir(key), bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	res, err := client.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusCreated {
		return nil
	}
	text, err := io.ReadAll(res.Body)
	return fmt.Errorf("%s: %s %w", key, text, err)
}
