package core

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
)

func TestSecret(t *testing.T) {
	is := is.New(t)
	r := kindtest.New(t, served, "secrets")
	obj, errs := r.Create(`{'data':{'a':'b2xk','k':'a2VlcA=='},'stringData':{'a':'new','n':''}}`)
	is.Equal(errs, "")                                                                          // fine
	is.Equal(kindtest.Part(obj), `{'data':{'a':'bmV3','k':'a2VlcA==','n':''},'type':'Opaque'}`) // stringData is merged into data
	_, errs = r.Update(obj, `{'type':'other'}`, "")
	is.Equal(errs, `type: Invalid value: "other": field is immutable`) // a secret keeps its type
	_, errs = r.Update(obj, `{'immutable':true,'stringData':{'z':'1'}}`, "")
	is.Equal(errs, "") // the last allowed change
}

func TestSecretTypes(t *testing.T) {
	is := is.New(t)
	for text, want := range map[string]string{
		`{'type':'kubernetes.io/tls'}`:                                                           "data[tls.crt]: Required value\ndata[tls.key]: Required value",
		`{'type':'kubernetes.io/basic-auth','stringData':{'username':''}}`:                       "",
		`{'type':'kubernetes.io/basic-auth'}`:                                                    "data[username]: Required value\ndata[password]: Required value",
		`{'type':'kubernetes.io/ssh-auth','stringData':{'ssh-privatekey':''}}`:                   "data[ssh-privatekey]: Required value",
		`{'type':'kubernetes.io/service-account-token'}`:                                         "metadata.annotations[kubernetes.io/service-account.name]: Required value",
		`{'type':'kubernetes.io/dockercfg'}`:                                                     "data[.dockercfg]: Required value",
		`{'type':'kubernetes.io/dockerconfigjson','stringData':{'.dockerconfigjson':'no json'}}`: `data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character 'o' in literal null (expecting 'u')`,
	} {
		_, errs := kindtest.New(t, served, "secrets").Create(text)
		is.Equal(errs, want) // same errors as the real server
	}
	r := kindtest.New(t, served, "secrets")
	r.Create(`{'type':'kubernetes.io/tls','stringData':{'tls.crt':'','tls.key':''}}`)
	is.Equal(r.Warnings, []string{"tls: failed to find any PEM data in certificate input"}) // an invalid pair is accepted
}
