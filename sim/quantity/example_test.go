package quantity_test

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/quantity"
)

func ExampleParse() {
	for _, s := range []string{"1500m", "1024Mi", "0.5", "5e3", "1 GB"} {
		q, err := quantity.Parse(s)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(s, "is", q)
	}
	// Output:
	// 1500m is 1500m
	// 1024Mi is 1Gi
	// 0.5 is 500m
	// 5e3 is 5e3
	// quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'
}
