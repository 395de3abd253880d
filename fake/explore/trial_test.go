package explore_test

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

// runChannel is set before each run of Explore, like variables of client libraries.
var runChannel chan struct{}

func init() { fake.OnTrial(func() { runChannel = make(chan struct{}) }) }

// TestOnTrial checks that a function registered by OnTrial is called in the bubble of each run: a goroutine that waits for the
// channel made there lets virtual time advance.
func TestOnTrial(t *testing.T) {
	fake.Explore(t, fake.ExploreOptions{Seeds: 3, Workers: 1, Server: fake.Options{Bare: true}}, func(t fake.T, srv *fake.Server) {
		is := is.New(t)
		srv.Process("copier", copier(srv, true)) // faults need a client
		own, ended := runChannel, make(chan struct{})
		go func() {
			<-own
			close(ended)
		}()
		begin := time.Now()
		time.Sleep(time.Minute)
		is.Equal(time.Since(begin), time.Minute)
		is.Equal(own, runChannel) // no other run has replaced it
		close(own)
		<-ended
	})
}
