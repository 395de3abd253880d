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
)

// There is one line for each replica, in order, before any other output. The URL in each line is that of its replica.
func TestServeReplicas(t *testing.T) {
	is := is.New(t)
	stdout, w := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	code := make(chan int, 1)
	go func() {
		code <- program{w, new(bytes.Buffer)}.main(ctx, []string{"serve", "--replica", "version=1.36,gates=VolumeLimitScaling=true,GenericWorkload=false",
			"--replica", "version=1.35,serve=autoscaling/v1=false"})
		w.Close()
	}()
	client := &http.Client{Transport: &http.Transport{}}
	lines := bufio.NewScanner(stdout)
	var urls []string
	for _, want := range []string{`"v1.36.3"`, `"v1.35.4"`} {
		is.True(lines.Scan())
		url, ok := strings.CutPrefix(lines.Text(), "serving ")
		is.True(ok)
		urls = append(urls, url)
		is.True(strings.Contains(fetch(t, client, "GET", url+"/version"), want))
	}
	fetch(t, client, "POST", urls[0]+"/sim/v1/replicas/2/lag?resource=pods")
	fetch(t, client, "POST", urls[1]+"/sim/v1/replicas/1/cut")
	is.Equal(fetch(t, client, "GET", urls[0]+"/sim/v1/replicas"), `{"replicas":[`+
		`{"version":"v1.36.3","revision":4004,"cut":true,"lagging":[],"watches":0,"unready":[]},`+
		`{"version":"v1.35.4","revision":4004,"cut":false,"lagging":["pods"],"watches":0,"unready":[]}]}`+"\n")
	fetch(t, client, "POST", urls[0]+"/sim/v1/replicas/1/resume")
	fetch(t, client, "POST", urls[0]+"/sim/v1/replicas/2/restart")
	is.True(strings.Contains(fetch(t, client, "POST", urls[0]+"/sim/v1/replicas/1/explode"), "the actions are lag, cut, resume, restart, unready, stall and close"))
	is.True(strings.Contains(fetch(t, client, "POST", urls[0]+"/sim/v1/replicas/3/cut"), "there is no replica 3: the number of replicas is 2"))
	client.CloseIdleConnections()
	cancel()
	is.Equal(<-code, 0)
}

func fetch(t *testing.T, client *http.Client, method, url string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestReplicaFlagErrors(t *testing.T) {
	for _, args := range [][]string{{"--replicas", "0"}, {"--replicas", "2", "--replica", ""}, {"--replica", "1.35"},
		{"--replica", "gates=X"}, {"--replica", "version=1.35,x"}} {
		is := is.New(t)
		_, err := parseFlags(args)
		is.True(err != nil) // refused
	}
	is := is.New(t)
	f, err := parseFlags([]string{"--replicas", "3"})
	is.NoErr(err)
	is.Equal(len(f.replicaOptions()), 3)
}
