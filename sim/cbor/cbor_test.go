package cbor_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/cbor"
	"github.com/kubesim/kubesim/sim/schema"
)

func set(t testing.TB) *schema.Set {
	t.Helper()
	s, err := schema.Load(schema.Default)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFromJSON compares encoded objects with what kube-apiserver v1.36.3 sends, apart from the order of map keys.
func TestFromJSON(t *testing.T) {
	for _, c := range []struct{ name, json, want string }{
		{"strings and keys are byte strings", `{"kind":"ConfigMap","apiVersion":"v1"}`,
			"d9d9f7 a2 44 6b696e64 49 436f6e6669674d6170 4a 61706956657273696f6e 42 7631"},
		{"bytes have tag 22", `{"kind":"Secret","apiVersion":"v1","data":{"a":"aGVsbG8="}}`,
			"d9d9f7 a3 44 64617461 a1 41 61 d6 45 68656c6c6f 44 6b696e64 46 536563726574 4a 61706956657273696f6e 42 7631"},
		{"in lists", `{"kind":"SecretList","apiVersion":"v1","items":[{"data":{"a":"aGk="}}]}`,
			"d9d9f7 a3 44 6b696e64 4a 5365637265744c697374 45 6974656d73 81 a1 44 64617461 a1 41 61 d6 42 6869 4a 61706956657273696f6e 42 7631"},
		{"in events", `{"type":"ADDED","object":{"kind":"Secret","apiVersion":"v1","data":{"a":"aGk="}}}`,
			"d9d9f7 a2 44 74797065 45 4144444544 46 6f626a656374 a3 44 64617461 a1 41 61 d6 42 6869 44 6b696e64 46 536563726574 4a 61706956657273696f6e 42 7631"},
		{"custom resources have no bytes", `{"kind":"Frog","apiVersion":"x.example.com/v1","data":{"a":"aGk="}}`,
			"d9d9f7 a3 44 64617461 a1 41 61 44 6147 6b3d 44 6b696e64 44 46726f67 4a 61706956657273696f6e 50 782e6578616d706c652e636f6d2f7631"},
		{"numbers", `{"a":-1,"b":1.5,"c":500,"d":true,"e":null,"f":[]}`,
			"d9d9f7 a6 41 61 20 41 62 f93e00 41 63 1901f4 41 64 f5 41 65 f6 41 66 80"},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			got := hex.EncodeToString(cbor.Codec{}.FromJSON([]byte(c.json), set(t)))
			is.Equal(got, strings.ReplaceAll(c.want, " ", ""))
		})
	}
}

// TestToJSON checks what a server accepts, and the errors of kube-apiserver.
func TestToJSON(t *testing.T) {
	for _, c := range []struct{ name, data, want, failure string }{
		{"text strings", "a1 61 61 61 62", `{"a":"b"}`, ""},
		{"byte strings", "a1 41 61 41 62", `{"a":"b"}`, ""},
		{"tag 22 is base64", "a1 41 61 d6 42 6869", `{"a":"aGk="}`, ""},
		{"a time with a tag", "a1 41 61 c0 74 323032362d30312d30315430303a30303a30305a", `{"a":"2026-01-01T00:00:00Z"}`, ""},
		{"indefinite lengths", "bf 41 61 9f 01 ff ff", `{"a":[1]}`, ""},
		{"self-described", "d9d9f7 a0", `{}`, ""},
		{"not HTML", "a1 41 61 41 3c", `{"a":"<"}`, ""},
		{"nothing", "", "", "EOF"},
		{"a part", "a2 41 61", "", "unexpected EOF"},
		{"a list", "80", "", "cbor: cannot unmarshal array into Go value of type v1.TypeMeta"},
		{"a repeated key", "a2 41 61 01 41 61 02", "", `cbor: found duplicate map key "a" at map element index 1`},
		{"infinity", "a1 41 61 f97c00", "", "floating-point infinity"},
		{"a big number", "a1 41 61 c2 49 010000000000000000", "", "bignum"},
		{"undefined", "a1 41 61 f7", "", "simple value 23 is not recognized"},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			data, err := hex.DecodeString(strings.ReplaceAll(c.data, " ", ""))
			is.NoErr(err)
			got, err := cbor.Codec{}.ToJSON(data, "v1.TypeMeta")
			if c.failure != "" {
				is.True(err != nil)
				is.True(strings.Contains(err.Error(), c.failure)) // the error of the real server
				return
			}
			is.NoErr(err)
			is.Equal(string(got), c.want)
		})
	}
}

func TestDiagnose(t *testing.T) {
	is := is.New(t)
	is.Equal(cbor.Codec{}.Diagnose([]byte{0xa1, 0x41, 'a', 1}), `{'a': 1}`)
	is.Equal(cbor.Codec{}.Diagnose([]byte{0xa1}), "a1") // not well-formed
}

// FuzzToJSON checks that bodies from clients neither panic nor become anything but JSON objects, and that these come back equal.
func FuzzToJSON(f *testing.F) {
	f.Add([]byte{0xa1, 0x41, 'a', 1})
	f.Add([]byte{0xd9, 0xd9, 0xf7, 0xa1, 0x41, 'a', 0xd6, 0x42, 'h', 'i'})
	s := set(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := cbor.Codec{}.ToJSON(data, "v1.TypeMeta")
		if err != nil {
			return
		}
		var v map[string]any
		if json.Unmarshal(text, &v) != nil {
			t.Fatalf("%x: not a JSON object: %s", data, text)
		}
		if kind, _ := v["kind"].(string); kind != "" || v["object"] != nil { // the fields may then be bytes, whose base64 has several forms
			return
		}
		again, err := cbor.Codec{}.ToJSON(cbor.Codec{}.FromJSON(text, s), "v1.TypeMeta")
		if err != nil || !bytes.Equal(again, text) {
			t.Fatalf("%x: %s, and again %s, %v", data, text, again, err)
		}
		cbor.Codec{}.Diagnose(data)
	})
}
