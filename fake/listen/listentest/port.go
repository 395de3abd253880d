// Package listentest chooses ports for programs that tests start.
//
//	20000 ─────────────── 31999   32768 ─────────────── 60999
//	ports of this package         ephemeral ports of Linux
package listentest

import (
	"fmt"
	"net"
	"os"
	"sync/atomic"
)

// TB is the subset of testing.TB that the package uses.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

const (
	first = 20000 // the first port
	ports = 12000
	apart = 61 // the distance between the first ports of two processes with successive numbers
)

var tried atomic.Int64 // the number of ports that this process has tried

// Port returns a port of 127.0.0.1 at which no program listens. A process gets no port again before it has got all others, and processes
// begin at different ports. The port is not ephemeral, because the system could give an ephemeral one to a connection, or to a program that
// listens at port 0, before the program of the test listens there.
func Port(t TB) int {
	t.Helper()
	var failed error
	for range 100 {
		port := first + (os.Getpid()*apart+int(tried.Add(1)))%ports
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			defer l.Close()
			return port
		}
		failed = err
	}
	t.Fatalf("listentest: 100 ports between %d and %d are in use; the last error: %v", first, first+ports-1, failed)
	return 0
}

// Address returns 127.0.0.1 with a port of Port.
func Address(t TB) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", Port(t))
}
