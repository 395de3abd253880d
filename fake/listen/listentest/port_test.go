package listentest

import (
	"fmt"
	"net"
	"testing"

	"github.com/matryer/is"
)

// TestPort checks that a port is not returned again, also if it is the next one and a program listens there.
func TestPort(t *testing.T) {
	is := is.New(t)
	port := Port(t)
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	is.NoErr(err)
	defer l.Close()
	tried.Add(-1)
	for range 10 {
		is.True(Port(t) != port)
	}
}
