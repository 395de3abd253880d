package sim

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/boot"
)

// host returns the name of the machine on which a server runs. Servers are counted from 0 here.
func host(i int) string {
	if i == 0 {
		return boot.Host
	}
	return fmt.Sprint(boot.Host, "-", i+1)
}
