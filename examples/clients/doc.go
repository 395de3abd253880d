// Package clients shows how to use client-go with kubesim: the clients are unmodified, and nothing is mocked.
//
// Each test file contains examples of one topic. Two lines connect any client:
//
//	srv := fake.RunT(t)
//	config := &rest.Config{Host: srv.URL(), Transport: srv.Transport(), QPS: -1}
//
// Start with typed_test.go, then informer_test.go. day_test.go shows how a day passes in milliseconds.
package clients
