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

func ExampleNew() {
	fmt.Println(quantity.New(3<<30, quantity.BinarySI), quantity.New(5000, quantity.DecimalSI))
	// Output: 3Gi 5k
}

func ExampleMilli() {
	fmt.Println(quantity.Milli(1500, quantity.DecimalSI), quantity.Milli(2000, quantity.DecimalSI))
	// Output: 1500m 2
}

func ExampleMustParse() {
	fmt.Println(quantity.MustParse("0.5").Cmp(quantity.MustParse("500m")))
	// Output: 0
}

// Of returns quantities in objects that a server has validated.
func ExampleOf() {
	fmt.Println(quantity.Of("1.5Gi"), quantity.Of(nil))
	// Output: 1536Mi 0
}
