package core

import (
	"net/netip"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
	"github.com/kubesim/kubesim/sim/object"
)

// serviceTry returns a Try with two stored services.
func serviceTry(t *testing.T) *kindtest.Try {
	r := kindtest.New(t, served, "services")
	for _, text := range []string{
		`{'metadata':{'name':'one','namespace':'n'},'spec':{'clusterIP':'10.0.0.1','clusterIPs':['10.0.0.1'],'ports':[{'port':80,'nodePort':30000}]}}`,
		`{'metadata':{'name':'two','namespace':'n'},'spec':{'clusterIP':'10.0.0.24','clusterIPs':['10.0.0.24']}}`,
	} {
		r.Stored["services"] = append(r.Stored["services"], r.Parse(text))
	}
	return r
}

func TestServiceDefaults(t *testing.T) {
	is := is.New(t)
	for text, want := range map[string]string{
		`{'ports':[{'port':80}]}`:                      `{'clusterIP':'10.0.0.25','clusterIPs':['10.0.0.25'],'internalTrafficPolicy':'Cluster','ipFamilies':['IPv4'],'ipFamilyPolicy':'SingleStack','ports':[{'port':80,'protocol':'TCP','targetPort':80}],'sessionAffinity':'None','type':'ClusterIP'}`,
		`{'clusterIP':'None','selector':{'a':'b'}}`:    `{'clusterIP':'None','clusterIPs':['None'],'internalTrafficPolicy':'Cluster','ipFamilies':['IPv4'],'ipFamilyPolicy':'SingleStack','selector':{'a':'b'},'sessionAffinity':'None','type':'ClusterIP'}`,
		`{'clusterIP':'None'}`:                         `{'clusterIP':'None','clusterIPs':['None'],'internalTrafficPolicy':'Cluster','ipFamilies':['IPv4','IPv6'],'ipFamilyPolicy':'RequireDualStack','sessionAffinity':'None','type':'ClusterIP'}`,
		`{'type':'ExternalName','externalName':'a.b'}`: `{'externalName':'a.b','sessionAffinity':'None','type':'ExternalName'}`,
		`{'sessionAffinity':'ClientIP','clusterIP':'10.0.0.9','ports':[{'port':1,'targetPort':'http','protocol':'UDP'}]}`: `{'clusterIP':'10.0.0.9','clusterIPs':['10.0.0.9'],'internalTrafficPolicy':'Cluster','ipFamilies':['IPv4'],'ipFamilyPolicy':'SingleStack','ports':[{'port':1,'protocol':'UDP','targetPort':'http'}],'sessionAffinity':'ClientIP','sessionAffinityConfig':{'clientIP':{'timeoutSeconds':10800}},'type':'ClusterIP'}`,
	} {
		obj, errs := serviceTry(t).Create(`{'metadata':{'name':'s','namespace':'n'},'spec':` + text + `}`)
		is.Equal(errs, "")                         // nothing is wrong
		is.Equal(kindtest.Part(obj, "spec"), want) // same defaults as the real server
	}
}

func TestServiceErrors(t *testing.T) {
	is := is.New(t)
	for text, want := range map[string]string{
		`{}`: "spec.ports: Required value",
		`{'ports':[{'port':0},{'port':80,'name':'a','protocol':'X'}]}`: "spec.ports[0].name: Required value\n" +
			"spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive\n" +
			"spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive\n" +
			`spec.ports[1].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"`,
		`{'ports':[{'port':80,'name':'a'},{'port':80,'name':'a'}]}`: `spec.ports[1].name: Duplicate value: "a"` + "\n" +
			`spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}`,
		`{'type':'Public','ports':[{'port':80}]}`:                                                                            `spec.type: Unsupported value: "Public": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"`,
		`{'type':'ExternalName'}`:                                                                                            "spec.externalName: Required value",
		`{'type':'NodePort','ports':[{'port':80,'nodePort':80}]}`:                                                            "spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767",
		`{'type':'NodePort','ports':[{'port':80,'nodePort':30000}]}`:                                                         "spec.ports[0].nodePort: Invalid value: 30000: provided port is already allocated",
		`{'ports':[{'port':80,'nodePort':30001}]}`:                                                                           "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
		`{'clusterIP':'not-ip','ports':[{'port':80}]}`:                                                                       `spec.clusterIPs[0]: Invalid value: "not-ip": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`,
		`{'clusterIP':'192.168.77.1','ports':[{'port':80}]}`:                                                                 `spec.clusterIPs: Invalid value: ["192.168.77.1"]: failed to allocate IP 192.168.77.1: the provided network does not match the current range`,
		`{'clusterIP':'10.0.0.1','ports':[{'port':80}]}`:                                                                     `spec.clusterIPs: Invalid value: ["10.0.0.1"]: failed to allocate IP 10.0.0.1: provided IP is already allocated`,
		`{'clusterIP':'10.0.0.5','clusterIPs':['10.0.0.6'],'ports':[{'port':80}]}`:                                           "spec.clusterIPs: Invalid value: [\"10.0.0.6\"]: first value must match `clusterIP`",
		`{'type':'LoadBalancer','clusterIP':'None','ports':[{'port':80}]}`:                                                   `spec.clusterIPs[0]: Invalid value: "None": may not be set to 'None' for LoadBalancer services`,
		`{'ipFamilyPolicy':'RequireDualStack','ports':[{'port':80}]}`:                                                        `spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services`,
		`{'ipFamilies':['IPv6'],'ports':[{'port':80}]}`:                                                                      `spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster`,
		`{'externalIPs':['127.0.0.1'],'ports':[{'port':80}]}`:                                                                `spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)`,
		`{'loadBalancerSourceRanges':['10.0.0.0/8'],'ports':[{'port':80}]}`:                                                  "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
		`{'loadBalancerClass':'a.b/c','ports':[{'port':80}]}`:                                                                "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
		`{'trafficDistribution':'Far','ports':[{'port':80}]}`:                                                                `spec.trafficDistribution: Unsupported value: "Far": supported values: "PreferClose", "PreferSameZone", "PreferSameNode"`,
		`{'sessionAffinity':'ClientIP','sessionAffinityConfig':{'clientIP':{'timeoutSeconds':90000}},'ports':[{'port':80}]}`: "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 90000: must be greater than 0 and less than 86400",
	} {
		_, errs := serviceTry(t).Create(`{'metadata':{'name':'s','namespace':'n'},'spec':` + text + `}`)
		is.Equal(errs, want) // same errors as the real server
	}
}

func TestNodePorts(t *testing.T) {
	is := is.New(t)
	r := serviceTry(t)
	obj, errs := r.Create(`{'metadata':{'name':'s'},'spec':{'type':'NodePort','ports':[{'name':'a','port':53,'protocol':'UDP'},{'name':'b','port':53},{'name':'c','port':80}]}}`)
	is.Equal(errs, "") // two protocols may share a port
	ports := obj.Objects("spec", "ports")
	is.Equal(ports[0].Int64("nodePort"), ports[1].Int64("nodePort"))  // and share the node port
	is.True(ports[2].Int64("nodePort") != ports[0].Int64("nodePort")) // a different one for another port
	is.True(ports[2].Int64("nodePort") >= nodePortDrawn)              // from the part that is drawn from
	again, errs := r.Update(obj, `{'spec':{'ports':[{'name':'c','port':80}]}}`, "")
	is.Equal(errs, "")
	is.Equal(again.Objects("spec", "ports")[0].Int64("nodePort"), ports[2].Int64("nodePort")) // kept by name
	obj, _ = r.Create(`{'metadata':{'name':'s'},'spec':{'type':'LoadBalancer','externalTrafficPolicy':'Local','ports':[{'port':80}]}}`)
	is.True(obj.Int64("spec", "healthCheckNodePort") > 0) // for load balancers
	obj, _ = r.Create(`{'metadata':{'name':'s'},'spec':{'type':'LoadBalancer','allocateLoadBalancerNodePorts':false,'ports':[{'port':80}]}}`)
	is.Equal(obj.Objects("spec", "ports")[0].Int64("nodePort"), int64(0)) // none requested
}

func TestDryRunAllocates(t *testing.T) {
	is := is.New(t)
	r := serviceTry(t)
	r.Ctx.DryRun = true
	r.Ctx.Random = nil // no random numbers
	obj, errs := r.Create(`{'spec':{'type':'NodePort','ports':[{'name':'a','port':1},{'name':'b','port':2}]}}`)
	is.Equal(errs, "")
	is.Equal(obj.String("spec", "clusterIP"), "10.0.0.0") // made up, as on the real server
	is.Equal(obj.Objects("spec", "ports")[1].Int64("nodePort"), int64(32770))
}

func TestServiceUpdates(t *testing.T) {
	is := is.New(t)
	base := `{'metadata':{'name':'s','namespace':'n'},'spec':{'ports':[{'port':80}]}}`
	for patch, want := range map[string]string{
		`{'spec':{'clusterIP':'10.0.0.9'}}`: `spec.clusterIPs[0]: Invalid value: ["10.0.0.9"]: may not change once set`,
		`{'spec':{'clusterIP':'None'}}`:     `spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set`,
		`{'spec':{'clusterIP':null,'clusterIPs':null,'ipFamilies':null,'ipFamilyPolicy':null}}`: "",
		`{'spec':{'sessionAffinity':'Cookie','internalTrafficPolicy':'Near'}}`: `spec.sessionAffinity: Unsupported value: "Cookie": supported values: "ClientIP", "None"` + "\n" +
			`spec.internalTrafficPolicy: Unsupported value: "Near": supported values: "Cluster", "Local"`,
		`{'spec':{'externalTrafficPolicy':'Local'}}`: `spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services`,
		`{'spec':{'type':'NodePort'}}`:               "",
	} {
		r := serviceTry(t)
		obj, _ := r.Create(base)
		_, errs := r.Update(obj, patch, "")
		is.Equal(errs, want) // same errors as the real server
	}
	r := serviceTry(t)
	obj, _ := r.Create(`{'metadata':{'name':'s','namespace':'n'},'spec':{'type':'LoadBalancer','ports':[{'port':80}]}}`)
	obj, errs := r.Update(obj, `{'spec':{'type':'ExternalName','externalName':'a.b'}}`, "")
	is.Equal(errs, "")
	is.Equal(kindtest.Part(obj, "spec"), `{'externalName':'a.b','internalTrafficPolicy':'Cluster','ports':[{'port':80,'protocol':'TCP','targetPort':80}],'sessionAffinity':'None','type':'ExternalName'}`)
	obj, errs = r.Update(obj, `{'spec':{'type':'ClusterIP'}}`, "")
	is.Equal(errs, "")
	is.True(obj.String("spec", "clusterIP") != "") // a new address
}

// TestServiceDecorator checks that decorateService changes only the services that need it.
func TestServiceDecorator(t *testing.T) {
	is := is.New(t)
	for stored, want := range map[string]string{
		`{'type':'ClusterIP','clusterIP':'x','clusterIPs':['x'],'internalTrafficPolicy':'Cluster'}`: "",
		`{'type':'ClusterIP','clusterIP':'x'}`:                                                      `{'clusterIP':'x','clusterIPs':['x'],'internalTrafficPolicy':'Cluster','sessionAffinity':'None','type':'ClusterIP'}`,
		`{'type':'ExternalName','externalName':'a.b'}`:                                              "",
		`{'type':'ExternalName','internalTrafficPolicy':'Local','clusterIP':'x'}`:                   `{'clusterIP':'x','clusterIPs':['x'],'sessionAffinity':'None','type':'ExternalName'}`,
		`{'type':'ExternalName','internalTrafficPolicy':'Local','clusterIP':null}`:                  `{'clusterIP':null,'sessionAffinity':'None','type':'ExternalName'}`,
	} {
		obj := serviceTry(t).Parse(`{'spec':` + stored + `}`)
		before := obj.Copy()
		shown, differs := decorateService(obj)
		is.Equal(differs, want != "") // whether readers get a different object
		is.Equal(obj, before)         // the stored object is unchanged
		if differs {
			is.Equal(kindtest.Part(shown, "spec"), want)
		}
	}
}

func TestServiceStatus(t *testing.T) {
	is := is.New(t)
	r := serviceTry(t)
	obj, _ := r.Create(`{'spec':{'ports':[{'port':80}]}}`)
	_, errs := r.Update(obj, `{'status':{'loadBalancer':{'ingress':[{'ip':'1.2.3.4'}]}}}`, "status")
	is.Equal(errs, "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'")
	obj, _ = r.Create(`{'spec':{'type':'LoadBalancer','ports':[{'port':80}]}}`)
	obj, errs = r.Update(obj, `{'status':{'loadBalancer':{'ingress':[{'ip':'1.2.3.4'},{'hostname':'1.2.3.4'},{'ip':'x','ipMode':'Way'}]}}}`, "status")
	is.Equal(errs, `status.loadBalancer.ingress[1].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address`+"\n"+
		`status.loadBalancer.ingress[2].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`+"\n"+
		`status.loadBalancer.ingress[2].ipMode: Unsupported value: "Way": supported values: "Proxy", "VIP"`)
	is.Equal(externalIPs(obj), "1.2.3.4,x") // sorted, each once
}

func TestServiceWarnings(t *testing.T) {
	is := is.New(t)
	r := serviceTry(t)
	r.Create(`{'spec':{'clusterIP':'None','sessionAffinity':'ClientIP','externalName':'a','trafficDistribution':'PreferClose'}}`)
	is.Equal(r.Warnings, []string{
		"spec.SessionAffinity is ignored for headless services",
		`spec.externalName is ignored when spec.type is not "ExternalName"`,
		`spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"`})
}

func TestServiceRow(t *testing.T) {
	is := is.New(t)
	r := serviceTry(t)
	obj := r.Parse(`{'metadata':{'name':'s','creationTimestamp':'2026-01-02T03:03:05Z'},'spec':{'type':'NodePort','clusterIPs':['10.0.0.3'],'selector':{'b':'c','a':'b'},'ports':[{'port':80,'nodePort':30001},{'port':53,'protocol':'UDP'}]}}`)
	is.Equal(r.Kind.Row(r.Ctx.Now, obj).Cells, []any{"s", "NodePort", "10.0.0.3", "<none>", "80:30001/TCP,53/UDP", "60s", "a=b,b=c"})
	obj = r.Parse(`{'spec':{'type':'LoadBalancer'}}`)
	is.Equal(r.Kind.Row(r.Ctx.Now, obj).Cells, []any{"", "LoadBalancer", "<none>", "<pending>", "<none>", "<unknown>", "<none>"})
}

func TestAddressesRunOut(t *testing.T) {
	is := is.New(t)
	r := kindtest.New(t, served, "services")
	seen := map[string]bool{}
	r.Ctx.ServiceCIDRs = []netip.Prefix{netip.MustParsePrefix("10.96.7.130/26")} // .128 to .191
	for range 62 {
		obj, errs := r.Create(`{'metadata':{'name':'s'},'spec':{'ports':[{'port':80}]}}`)
		is.Equal(errs, "")
		ip := obj.String("spec", "clusterIP")
		is.True(!seen[ip]) // no address twice
		is.True(ip != "10.96.7.128" && ip != "10.96.7.191")
		is.Equal(len(seen) < 46, netip.MustParseAddr(ip).As4()[3] > 144) // the first sixteen are allocated last
		seen[ip] = true
		obj.Set(ip, "metadata", "name")
		r.Stored["services"] = append(r.Stored["services"], obj)
	}
	_, errs := r.Create(`{'metadata':{'name':'s'},'spec':{'ports':[{'port':80}]}}`)
	is.Equal(errs, `Internal error occurred: failed to allocate a serviceIP for Service "s": range is full`)
}

func TestEndpoints(t *testing.T) {
	is := is.New(t)
	r := kindtest.New(t, served, "endpoints")
	obj, errs := r.Create(`{'subsets':[{'addresses':[{'ip':'10.0.0.2'},{'ip':'10.0.0.1'}],'ports':[{'port':80}]}]}`)
	is.Equal(errs, "")
	is.Equal(kindtest.Part(obj, "subsets"), `[{'addresses':[{'ip':'10.0.0.2'},{'ip':'10.0.0.1'}],'ports':[{'port':80,'protocol':'TCP'}]}]`) // in the given order
	is.Equal(endpointsCell(obj), "10.0.0.2:80,10.0.0.1:80")
	_, errs = r.Create(`{'subsets':[{},{'addresses':[{'ip':'169.254.1.1','nodeName':'A'}],'ports':[{'port':1},{'port':0,'name':'x'}]}]}`)
	is.Equal(errs, "subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`\n"+
		`subsets[1].addresses[0].nodeName: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`+"\n"+
		`subsets[1].addresses[0].ip: Invalid value: "169.254.1.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)`+"\n"+
		"subsets[1].ports[0].name: Required value\n"+
		"subsets[1].ports[1].port: Invalid value: 0: must be between 1 and 65535, inclusive")
	is.Equal(endpointsCell(object.Object{}), "<none>")
}
