package programs

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// RunEtcd starts etcd and returns its URL and a function that ends it and removes its data.
func RunEtcd(label string, flags ...string) (url string, stop func(), err error) {
	dir, err := os.MkdirTemp("", label)
	if err != nil {
		return "", nil, err
	}
	p, url, err := startEtcd(label, dir, flags)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return url, func() {
		p.stop()
		_ = os.RemoveAll(dir) // it is below the folder for temporary files
	}, nil
}

func startEtcd(label, dir string, flags []string) (*process, string, error) {
	port, err := freePort()
	if err != nil {
		return nil, "", err
	}
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	p, err := launch("etcd", label, append([]string{
		"--data-dir=" + filepath.Join(dir, "data"), "--listen-client-urls=" + url, "--advertise-client-urls=" + url,
		"--listen-peer-urls=http://127.0.0.1:0", "--unsafe-no-fsync=true", "--log-level=warn", "--quota-backend-bytes=8589934592",
	}, flags...))
	if err != nil {
		return nil, "", err
	}
	if err := p.waitUntil(time.Minute, func() bool { return answers(http.DefaultClient, url+"/health", "") }); err != nil {
		p.stop()
		return nil, "", err
	}
	return p, url, nil
}
