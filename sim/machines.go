package sim

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/boot"
)

// host returns the name of the machine of a server, counted from 0.
func host(i int) string {
	if i == 0 {
		return boot.Host
	}
	return fmt.Sprint(boot.Host, "-", i+1)
}
