package outbound

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/webhook"
)

// simulated responds to a review for a webhook whose service has ready endpoints on simulated nodes only, where no program
// listens. A simulated pod is healthy, so the webhook allows the request without a change, and a warning says that it was
// not called. Objects cannot be converted without the program: this is an error. If the webhook can be called, simulated returns nil.
func (p places) simulated(q *http.Request, call *webhook.Request) (*http.Response, error) {
	parts := strings.Split(q.URL.Hostname(), ".")
	if len(parts) != 3 || parts[2] != "svc" {
		return nil, nil
	}
	name, namespace := parts[0], parts[1]
	port, err := strconv.ParseInt(cmp.Or(q.URL.Port(), "443"), 10, 32)
	if err != nil {
		return nil, err
	}
	if p.services.address(namespace, name, port) != "" || !p.cluster.SimulatesService(namespace, name) {
		return nil, nil
	}
	reason := fmt.Sprintf("the pods of Service %s/%s are simulated. Set the address of a running webhook with --service-address", namespace, name)
	if call.Plugin == "" {
		return nil, fmt.Errorf("kubesim cannot convert objects: %s", reason)
	}
	var review struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Request    struct {
			UID string `json:"uid"`
		} `json:"request"`
	}
	if err := json.Unmarshal(call.Review, &review); err != nil {
		return nil, err
	}
	body, err := json.Marshal(map[string]any{"apiVersion": review.APIVersion, "kind": review.Kind, "response": map[string]any{
		"uid": review.Request.UID, "allowed": true, "warnings": []string{"kubesim did not call a webhook: " + reason}}})
	if err != nil {
		return nil, err
	}
	return &http.Response{Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(body)),
		Body: io.NopCloser(strings.NewReader(string(body))), Request: q}, nil
}
