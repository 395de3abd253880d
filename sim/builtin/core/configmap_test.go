package core

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
)

func TestValidateConfigMap(t *testing.T) {
	is := is.New(t)
	for text, want := range map[string]string{
		`{'data':{'a':'1'},'binaryData':{'b':'AA=='}}`:                   "",
		`{'data':{'a b':'1'}}`:                                           `data[a b]: Invalid value: "a b": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')`,
		`{'data':{'a':'1'},'binaryData':{'a':'AA=='}}`:                   `data[a]: Invalid value: "a": duplicate of key present in binaryData`,
		`{'data':{'..':'1'}}`:                                            "data[..]: Invalid value: \"..\": must not be '..'",
		`{'data':{'a':'` + strings.Repeat("x", maxConfigBytes+1) + `'}}`: "[]: Too long: may not be more than 1048576 bytes",
	} {
		_, errs := kindtest.New(t, served, "configmaps").Create(text)
		is.Equal(errs, want) // same errors as the real server
	}
}

func TestUpdateImmutableConfigMap(t *testing.T) {
	is := is.New(t)
	r := kindtest.New(t, served, "configmaps")
	obj, _ := r.Create(`{'immutable':true,'data':{'a':'1'}}`)
	_, errs := r.Update(obj, `{'immutable':false,'binaryData':{'b':'AA=='}}`, "")
	is.Equal(errs, "immutable: Forbidden: field is immutable when `immutable` is set\n"+
		"binaryData: Forbidden: field is immutable when `immutable` is set") // only metadata may change
	_, errs = r.Update(obj, `{'metadata':{'labels':{'a':'b'}}}`, "")
	is.Equal(errs, "") // metadata may
}
