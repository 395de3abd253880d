package networking

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
)

func TestIngress(t *testing.T) {
	is := is.New(t)
	for spec, want := range map[string]string{
		`{'defaultBackend':{'service':{'name':'s','port':{'number':80}}}}`: "",
		`{}`:                    "spec: Invalid value: null: either `defaultBackend` or `rules` must be specified",
		`{'defaultBackend':{}}`: `spec.defaultBackend: Invalid value: "": resource or service backend is required`,
		`{'defaultBackend':{'service':{'name':'A','port':{}}}}`: `spec.defaultBackend.service.name: Invalid value: "A": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')` + "\n" +
			"spec.defaultBackend: Required value: port name or number is required",
		`{'rules':[{'host':'1.2.3.4','http':{'paths':[]}}]}`: `spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address` + "\nspec.rules[0].http.paths: Required value",
		`{'rules':[{'http':{'paths':[{'backend':{}}]}}]}`:    "spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified",
		`{'rules':[{'http':{'paths':[{'path':'x//..','pathType':'Prefix','backend':{'resource':{'kind':'K','name':'n'}}}]}}]}`: `spec.rules[0].http.paths[0].path: Invalid value: "x//..": must be an absolute path` + "\n" +
			`spec.rules[0].http.paths[0].path: Invalid value: "x//..": must not contain '//'` + "\n" + `spec.rules[0].http.paths[0].path: Invalid value: "x//..": cannot end with '/..'`,
		`{'rules':[{'http':{'paths':[{'path':'/','pathType':'Odd','backend':{'resource':{'kind':'K','name':'n'}}}]}}]}`: `spec.rules[0].http.paths[0].pathType: Unsupported value: "Odd": supported values: "Exact", "ImplementationSpecific", "Prefix"`,
	} {
		_, errs := kindtest.New(t, served, "ingresses.networking.k8s.io").Create(`{'spec':` + spec + `}`)
		is.Equal(errs, want) // same errors as the real server
	}
	r := kindtest.New(t, served, "ingresses.networking.k8s.io")
	_, errs := r.Create(`{'metadata':{'annotations':{'kubernetes.io/ingress.class':'a'}},'spec':{'ingressClassName':'b','rules':[{'host':'*.x.y'}]}}`)
	is.Equal(errs, "annotations.kubernetes.io/ingress.class: Invalid value: \"a\": must match `ingressClassName` when both are specified")
	obj, _ := r.Create(`{'metadata':{'annotations':{'kubernetes.io/ingress.class':'a'}},'spec':{'rules':[{'host':'a'},{'host':'b'},{'host':'c'},{'host':'d'}]}}`)
	is.Equal(r.Warnings, []string{`annotation "kubernetes.io/ingress.class" is deprecated, please use 'spec.ingressClassName' instead`})
	is.Equal(cellHosts(obj), "a,b,c + 1 more...")
	is.True(r.Kind.Strategy.SpecChanged(obj, r.Parse(`{}`))) // counts as a generation
}

func TestIngressClass(t *testing.T) {
	is := is.New(t)
	r := kindtest.New(t, served, "ingressclasses.networking.k8s.io")
	obj, errs := r.Create(`{'spec':{'controller':'x.io/c','parameters':{'kind':'K','name':'n'}}}`)
	is.Equal(errs, "")
	is.Equal(obj.String("spec", "parameters", "scope"), "Cluster")
	_, errs = r.Update(obj, `{'spec':{'controller':'y','parameters':{'scope':'Namespace'}}}`, "")
	is.Equal(errs, "spec.controller: Invalid value: \"y\": field is immutable\n"+
		"spec.controller: Invalid value: \"y\": must be a domain-prefixed path (such as \"acme.io/foo\")\n"+
		"spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'")
}

func TestNetworkPolicy(t *testing.T) {
	is := is.New(t)
	r := kindtest.New(t, served, "networkpolicies.networking.k8s.io")
	obj, errs := r.Create(`{'spec':{'ingress':[{'ports':[{'port':'web'}]}],'egress':[{}]}}`)
	is.Equal(errs, "")
	is.Equal(kindtest.Part(obj, "spec"), `{'egress':[{}],'ingress':[{'ports':[{'port':'web','protocol':'TCP'}]}],'policyTypes':['Ingress','Egress']}`)
	for peer, want := range map[string]string{
		`{}`: "spec.egress[0].to[0]: Required value: must specify a peer",
		`{'podSelector':{},'ipBlock':{'cidr':'10.0.0.0/8'}}`:         "spec.egress[0].to[0]: Forbidden: may not specify both ipBlock and another peer",
		`{'ipBlock':{'cidr':'10.0.0.0/8','except':['11.0.0.0/16']}}`: "spec.egress[0].to[0].ipBlock.except[0]: Invalid value: \"11.0.0.0/16\": must be a strict subset of `cidr`",
		`{'ipBlock':{}}`: "spec.egress[0].to[0].ipBlock.cidr: Required value",
		`{'podSelector':{'matchExpressions':[{'key':'a','operator':'Odd'}]}}`: `spec.egress[0].to[0].podSelector.matchExpressions[0].operator: Invalid value: "Odd": not a valid selector operator`,
	} {
		_, errs := r.Create(`{'spec':{'egress':[{'to':[` + peer + `]}]}}`)
		is.Equal(errs, want) // same errors as the real server
	}
	_, errs = r.Create(`{'spec':{'ingress':[{'ports':[{'port':80,'endPort':70},{'port':'x','endPort':1},{'endPort':1,'protocol':'Y'}]}],'policyTypes':['A']}}`)
	is.Equal(errs, "spec.ingress[0].ports[0].endPort: Invalid value: 80: must be greater than or equal to `port`\n"+
		"spec.ingress[0].ports[1].endPort: Invalid value: 1: may not be specified when `port` is non-numeric\n"+
		`spec.ingress[0].ports[2].protocol: Unsupported value: "Y": supported values: "TCP", "UDP", "SCTP"`+"\n"+
		"spec.ingress[0].ports[2].endPort: Invalid value: 1: may not be specified when `port` is not specified\n"+
		`spec.policyTypes[0]: Unsupported value: "A": supported values: "Ingress", "Egress"`)
}

func TestServiceCIDRAndIPAddress(t *testing.T) {
	is := is.New(t)
	r := kindtest.New(t, served, "servicecidrs.networking.k8s.io")
	obj, errs := r.Create(`{'spec':{'cidrs':['10.1.0.0/24']}}`)
	is.Equal(errs, "")
	_, errs = r.Update(obj, `{'spec':{'cidrs':['10.1.0.0/24','fd00::/64']}}`, "")
	is.Equal(errs, "") // the second family may come later
	_, errs = r.Update(obj, `{'spec':{'cidrs':['10.2.0.0/24']}}`, "")
	is.Equal(errs, `spec.cidrs[0]: Invalid value: "10.2.0.0/24": field is immutable`)
	_, errs = r.Create(`{'spec':{'cidrs':['10.1.0.1/24','10.2.0.0/24']}}`)
	is.Equal(errs, `spec.cidrs[0]: Invalid value: "10.1.0.1/24": must not have bits set beyond the prefix length`+"\n"+
		`spec.cidrs: Invalid value: ["10.1.0.1/24","10.2.0.0/24"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64`)
	r = kindtest.New(t, served, "ipaddresses.networking.k8s.io")
	obj, errs = r.Create(`{'spec':{'parentRef':{'resource':'services','namespace':'n','name':'s'}}}`)
	is.Equal(errs, "")
	_, errs = r.Update(obj, `{'spec':{'parentRef':{'name':'t'}}}`, "")
	is.Equal(errs, `spec.parentRef: Invalid value: {"Group":"","Resource":"services","Namespace":"n","Name":"t"}: field is immutable`)
	_, errs = r.Create(`{}`)
	is.Equal(errs, "spec.parentRef: Required value")
}
