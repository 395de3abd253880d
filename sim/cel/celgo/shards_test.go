package celgo

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/selector"
)

// TestParseShards checks selectors against the results of k8s.io/apiserver/pkg/sharding of v1.36.3.
func TestParseShards(t *testing.T) {
	is := is.New(t)
	const low, high = "'0x0000000000000000'", "'0x8000000000000000'"
	s, err := ParseShards(" shardRange(object.metadata.uid, " + low + ", " + high + ")||shardRange(object.metadata.uid, \"0xffffffffffffffff\", '0x10000000000000000')")
	is.NoErr(err)
	is.Equal(s, selector.Shards{Field: selector.ShardByUID, Ranges: []selector.HashRange{
		{Start: "0x0000000000000000", End: "0x8000000000000000"}, {Start: "0xffffffffffffffff", End: "0x10000000000000000"}}})
	again, err := ParseShards(s.String())
	is.NoErr(err)
	is.Equal(again, s)

	of := func(args string) string { return "shardRange(" + args + ")" }
	for expression, want := range map[string]string{
		"":    "empty shard selector is not allowed; omit the parameter for unfiltered lists",
		"a &": "CEL parse error: Syntax error: token recognition error at: '&'",
		"1":   "unexpected expression kind 5; expected shardRange() call or || operator",
		of("object.metadata.uid, "+low+", "+high) + " && true":                                               `unsupported function "_&&_"; only shardRange() and || are allowed`,
		of("object.metadata.uid, "+low+", "+high) + " || other()":                                            `unsupported function "other"; only shardRange() and || are allowed`,
		of("object.metadata.uid, " + low):                                                                    "shardRange() requires exactly 3 arguments, got 2",
		of("object.metadata.name, " + low + ", " + high):                                                     `unsupported field path "object.metadata.name"; supported: object.metadata.uid, object.metadata.namespace`,
		of("f(), " + low + ", " + high):                                                                      "shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind 1",
		of("object.metadata.uid, 1, " + high):                                                                "hexStart must be a string literal, got int64",
		of("object.metadata.uid, a, " + high):                                                                "hexStart must be a string literal (e.g. '0xff'), got expression kind 3",
		of("object.metadata.uid, '00', " + high):                                                             `hexStart must have '0x' prefix, got "00"`,
		of("object.metadata.uid, '0x', " + high):                                                             "hexStart: hex value is required after '0x'",
		of("object.metadata.uid, '0xff', " + high):                                                           `hexStart must be a 0x-prefixed 16-digit hex value, got "0xff" (did you mean "0x00000000000000ff"?)`,
		of("object.metadata.uid, " + low + ", '0x20000000000000000'"):                                        `hexEnd: 17-digit hex value must be '0x10000000000000000' (2^64), got "0x20000000000000000"`,
		of("object.metadata.uid, " + low + ", '0x100000000000000000'"):                                       `hexEnd: hex value too long (18 chars, max 17): "100000000000000000"`,
		of("object.metadata.uid, " + low + ", '0x000000000000000G'"):                                         `hexEnd: invalid hex character "G" in "0x000000000000000G"`,
		of("object.metadata.uid, " + high + ", " + low):                                                      "shard range start 0x8000000000000000 must be less than end 0x0000000000000000",
		of("object.metadata.uid, "+low+", "+high) + " || " + of("object.metadata.namespace, "+low+", "+high): `all shard ranges must use the same field, got "object.metadata.uid" and "object.metadata.namespace"`,
	} {
		_, err := ParseShards(expression)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", expression, err, want)
		}
	}
}

// FuzzShards checks that a selector that is accepted is printed as one with the same meaning.
func FuzzShards(f *testing.F) {
	f.Add("shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')")
	f.Add("shardRange(object.metadata.namespace, '0x0000000000000000', '0x10000000000000000') || a.b()")
	f.Fuzz(func(t *testing.T, expression string) {
		s, err := ParseShards(expression)
		if err != nil {
			return
		}
		again, err := ParseShards(s.String())
		if err != nil || again.String() != s.String() || s.Empty() {
			t.Errorf("%q is %+v, and then %+v, %v", expression, s, again, err)
		}
	})
}
