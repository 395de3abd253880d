// Package cluster has a test that expects a cluster. The variable KUBECONFIG names its kubeconfig.
package cluster

import (
	"crypto/tls"
	"net/http"
	"os"
	"regexp"
	"testing"
)

// The API server of --cluster is in this process.
func TestCluster(t *testing.T) {
	text, err := os.ReadFile(os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	server := regexp.MustCompile(`https://\S+`).FindString(string(text))
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	res, err := client.Get(server + "/api/v1/namespaces/default/configmaps/loaded")
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatal(res, err)
	}
}
