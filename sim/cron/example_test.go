package cron_test

import (
	"fmt"
	"time"

	"github.com/kubesim/kubesim/sim/cron"
)

func ExampleParse() {
	s, err := cron.Parse("30 2 * * 1-5")
	if err != nil {
		panic(err)
	}
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC) // a Friday
	for range 2 {
		at = s.Next(at)
		fmt.Println(at.Format(time.DateTime))
	}
	_, err = cron.Parse("61 * * * *")
	fmt.Println(err)
	// Output:
	// 2026-01-02 02:30:00
	// 2026-01-05 02:30:00
	// end of range (61) above maximum (59): 61
}
