package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake/grpc"
)

// TestServeEtcd checks that --etcd-listen serves the keys of the server.
func TestServeEtcd(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	stdout, w := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	code := make(chan int, 1)
	var stderr bytes.Buffer
	go func() {
		code <- program{w, &stderr}.main(ctx, []string{"serve", "--bare", "--etcd-listen=127.0.0.1:0"})
		w.Close()
	}()
	lines := bufio.NewScanner(stdout)
	url := ""
	for url == "" && lines.Scan() {
		url, _ = strings.CutPrefix(lines.Text(), "etcd ")
		if url == lines.Text() {
			url = ""
		}
	}
	go io.Copy(io.Discard, stdout)
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	const key = "/registry/namespaces/default"
	request := grpc.Frame([]byte("\n" + string(rune(len(key))) + key)) // field 1
	res, err := (&http.Client{Transport: transport}).Post(url+"/etcdserverpb.KV/Range", "application/grpc", bytes.NewReader(request))
	is.NoErr(err)
	body, err := io.ReadAll(res.Body)
	is.NoErr(err)
	is.NoErr(res.Body.Close())
	is.True(strings.Contains(string(body), key) && strings.Contains(string(body), "k8s\x00"))
	transport.CloseIdleConnections()
	cancel()
	is.Equal(<-code, 0)
}

// TestEtcdOpen checks that --etcd-listen refuses an address that the network can reach.
func TestEtcdOpen(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	for address, want := range map[string]string{"0.0.0.0:2379": "the network can reach it", "x": "missing port"} {
		_, err := parseFlags([]string{"--etcd-listen", address})
		is.True(err != nil && strings.Contains(err.Error(), want))
	}
	_, err := parseFlags([]string{"--etcd-listen", "0.0.0.0:2379", "--insecure-anyone"})
	is.NoErr(err)
}
