package main

import (
	"errors"
	"strings"
	"testing"
)

// FuzzArguments checks that kubesim serve either accepts its arguments or returns an error message.
func FuzzArguments(f *testing.F) {
	f.Add("--listen\n127.0.0.1:0\n--replica\nversion=1.35,gates=VolumeLimitScaling=true\n--nodes=3\n--clock=manual")
	f.Add("--token\nalice=t\n--auth\nrbac\n--service-address\na/b=127.0.0.1:9443\n--authorization-mode=RBAC,AlwaysDeny")
	f.Add("--seed\n-1\n--\nx")
	f.Fuzz(func(t *testing.T, text string) {
		_, err := parseFlags(strings.Split(text, "\n"))
		var help helpText
		var wrong usageError
		if err != nil && !errors.As(err, &help) && !errors.As(err, &wrong) && err.Error() == "" {
			t.Fatal("it is refused without a word")
		}
	})
}
