package celgo

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/object"
)

// TestDeviceSelector checks the values of devices in expressions: names without a domain belong to the driver, and unknown domains are
// empty.
func TestDeviceSelector(t *testing.T) {
	t.Parallel()
	device, err := object.Parse([]byte(`{"name":"gpu-0","allowMultipleAllocations":true,"attributes":{"model":{"string":"x"},"numa":{"int":1},"ok":{"bool":true},
		"other.example.com/model":{"string":"y"},"firmware":{"version":"1.10.0"}},"capacity":{"memory":{"value":"40Gi"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for expression, want := range map[string]string{
		`device.driver == "d" && device.allowMultipleAllocations`:                        "true",
		`device.attributes["d"].model == "x"`:                                            "true",
		`device.attributes["other.example.com"].model == "x"`:                            "false",
		`device.attributes["d"].ok`:                                                      "true",
		`device.attributes["d"].numa > 1`:                                                "false",
		`"model" in device.attributes["unknown"]`:                                        "false",
		`device.attributes["d"].?missing.orValue(true)`:                                  "true",
		`device.attributes["d"].firmware.isGreaterThan(semver("1.9.0"))`:                 "true",
		`device.capacity["d"].memory.compareTo(quantity("40Gi")) == 0`:                   "true",
		`cel.bind(dra, device.attributes["d"], dra.model == "x" && dra.numa == 1)`:       "true",
		`device.attributes["d"].missing == "x"`:                                          "no such key: missing",
		`device.attributes["d"].model`:                                                   "CEL result of type string could not be converted to bool: type conversion error from 'string' to 'bool'",
		`device.attributes["d"].all(a, device.attributes["d"].all(b, a == b || a != b))`: "true",
	} {
		t.Run(expression, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			s, err := NewDeviceSelector(expr.Environment{Minor: 36}, expression)
			is.NoErr(err)
			ok, err := s.Match("d", device)
			got := map[bool]string{true: "true", false: "false"}[ok]
			if err != nil {
				got = err.Error()
			}
			is.Equal(got, want)
		})
	}
}
