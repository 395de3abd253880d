package core

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
)

func TestNamespace(t *testing.T) {
	is := is.New(t)
	r := kindtest.New(t, served, "namespaces")
	obj, errs := r.Create(`{'metadata':{'name':'n'}}`)
	is.Equal(errs, "")
	is.Equal(kindtest.Part(obj), `{'metadata':{'labels':{'kubernetes.io/metadata.name':'n'},'name':'n'},'spec':{'finalizers':['kubernetes']},'status':{'phase':'Active'}}`)
	is.True(r.Kind.Strategy.Held(obj)) // until the namespace is empty
	changed, errs := r.Update(obj, `{'metadata':{'labels':null},'spec':{'finalizers':[]},'status':{'phase':'Terminating'}}`, "")
	is.Equal(errs, "")
	is.Equal(kindtest.Part(changed), kindtest.Part(obj)) // label, finalizers and phase are unchanged
	_, errs = r.Update(obj, `{'status':{'phase':'Terminating'}}`, "status")
	is.Equal(errs, "status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty")
	_, errs = r.Update(obj, `{'spec':{'finalizers':['me']}}`, "finalize")
	is.Equal(errs, `spec.finalizers[0]: Invalid value: "me": name is neither a standard finalizer name nor is it fully qualified`)
	changed, errs = r.Update(obj, `{'spec':{'finalizers':null},'status':{'phase':'X'}}`, "finalize")
	is.Equal(errs, "")
	is.True(!r.Kind.Strategy.Held(changed))               // nothing holds it any more
	is.Equal(changed.String("status", "phase"), "Active") // finalize does not change the status
}

func TestNode(t *testing.T) {
	is := is.New(t)
	r := kindtest.New(t, served, "nodes")
	obj, errs := r.Create(`{'metadata':{'name':'n'},'spec':{'podCIDRs':['10.1.0.0/24']},'status':{'capacity':{'cpu':'4'}}}`)
	is.Equal(errs, "")
	is.Equal(kindtest.Part(obj, "status"), `{'allocatable':{'cpu':'4'},'capacity':{'cpu':'4'}}`) // a create keeps the status
	changed, errs := r.Update(obj, `{'spec':{'podCIDR':'10.2.0.0/24','podCIDRs':['10.2.0.0/24'],'unschedulable':true},'status':{'capacity':{'cpu':'8'}}}`, "")
	is.Equal(errs, `spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid`)
	is.Equal(changed.String("status", "capacity", "cpu"), "4") // not through this endpoint
	changed, errs = r.Update(obj, `{'spec':{'unschedulable':true},'status':{'capacity':{'cpu':'8','pods':'1500m'}}}`, "status")
	is.Equal(errs, `status.capacity.pods: Invalid value: "1500m": must be an integer`)
	is.True(!changed.True("spec", "unschedulable")) // not through this endpoint
}

func TestTaints(t *testing.T) {
	is := is.New(t)
	r := kindtest.New(t, served, "nodes")
	_, errs := r.Create(`{'spec':{'taints':[{'key':'a','effect':'No'},{'key':'b','effect':'NoSchedule'},{'key':'b','value':'v','effect':'NoSchedule'}]}}`)
	is.Equal(errs, `metadata.taints[0].effect: Unsupported value: "No": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`+"\n"+
		`metadata.taints[2]: Duplicate value: {"Key":"b","Value":"v","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair`)
}

func TestNodeRow(t *testing.T) {
	is := is.New(t)
	r := kindtest.New(t, served, "nodes")
	obj := r.Parse(`{'metadata':{'name':'n','labels':{'node-role.kubernetes.io/control-plane':'','kubernetes.io/role':'db'}},
		'spec':{'unschedulable':true},'status':{'conditions':[{'type':'Ready','status':'True'}],'addresses':[{'type':'InternalIP','address':'1.1.1.1'}],
		'nodeInfo':{'kubeletVersion':'v1','kernelVersion':'6','architecture':'arm64'}}}`)
	is.Equal(r.Kind.Row(r.Ctx.Now, obj).Cells, []any{"n", "Ready,SchedulingDisabled", "control-plane,db", "<unknown>", "v1", "1.1.1.1",
		"<none>", "<unknown>", "6 (arm64)", "<unknown>"})
	is.Equal(r.Kind.Row(r.Ctx.Now, r.Parse(`{}`)).Cells[1:3], []any{"Unknown", "<none>"})
}

func TestResourceQuota(t *testing.T) {
	is := is.New(t)
	for spec, want := range map[string]string{
		`{'hard':{'pods':'10','cpu':'1','requests.nvidia.com/gpu':'4','count/jobs.batch':'1'}}`: "",
		`{'hard':{'bananas':'1'}}`: "spec.hard[bananas]: Invalid value: \"bananas\": must be a standard resource type or fully qualified\n" +
			`spec.hard[bananas]: Invalid value: "bananas": must be a standard resource for quota`,
		`{'hard':{'pods':'-1'}}`:                                                                 `spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0`,
		`{'hard':{'pods':'1500m'}}`:                                                              `spec.hard[pods]: Invalid value: "1500m": must be an integer`,
		`{'hard':{'secrets':'1'},'scopes':['BestEffort']}`:                                       `spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource`,
		`{'scopes':['BestEffort','NotBestEffort','Odd']}`:                                        `spec.scopes: Invalid value: ["BestEffort","NotBestEffort","Odd"]: unsupported scope` + "\n" + `spec.scopes: Invalid value: ["BestEffort","NotBestEffort","Odd"]: conflicting scopes`,
		`{'scopeSelector':{'matchExpressions':[{'scopeName':'PriorityClass','operator':'In'}]}}`: "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
		`{'hard':{'secrets':'1'},'scopeSelector':{'matchExpressions':[{'scopeName':'PriorityClass','operator':'Exists'}]}}`: `spec.scopeSelector.matchExpressions: Invalid value: {"MatchExpressions":[{"ScopeName":"PriorityClass","Operator":"Exists","Values":null}]}: unsupported scope applied to resource`,
	} {
		_, errs := kindtest.New(t, served, "resourcequotas").Create(`{'spec':` + spec + `}`)
		is.Equal(errs, want) // same errors as the real server
	}
	r := kindtest.New(t, served, "resourcequotas")
	obj, _ := r.Create(`{'spec':{'hard':{'pods':'1','requests.cpu':'2','limits.cpu':'1'}}}`)
	is.Equal(r.Warnings, []string{"ResourceQuota requests.cpu (2) should be less than limits.cpu (1)"})
	_, errs := r.Update(obj, `{'spec':{'scopes':['BestEffort'],'hard':{'requests.cpu':null,'limits.cpu':null}}}`, "")
	is.Equal(errs, `spec.scopes: Invalid value: ["BestEffort"]: field is immutable`)
	row := r.Kind.Row(r.Ctx.Now, r.Parse(`{'status':{'hard':{'pods':'5','limits.cpu':'2','cpu':'1'},'used':{'pods':'2'}}}`))
	is.Equal(row.Cells[1:3], []any{"cpu: 0/1, pods: 2/5", "limits.cpu: 0/2"})
}

func TestLimitRange(t *testing.T) {
	is := is.New(t)
	r := kindtest.New(t, served, "limitranges")
	obj, errs := r.Create(`{'spec':{'limits':[{'type':'Container','max':{'cpu':'2'},'min':{'memory':'1Mi'}}]}}`)
	is.Equal(errs, "")
	is.Equal(kindtest.Part(obj, "spec"), `{'limits':[{'default':{'cpu':'2'},'defaultRequest':{'cpu':'2','memory':'1Mi'},'max':{'cpu':'2'},'min':{'memory':'1Mi'},'type':'Container'}]}`)
	for item, want := range map[string]string{
		`{'type':'Pod','default':{'cpu':'1'}}`:                                                  "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
		`{'type':'Box'}`:                                                                        `spec.limits[0].type: Invalid value: "Box": must be a standard limit type or fully qualified`,
		`{'type':'PersistentVolumeClaim'}`:                                                      "spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided",
		`{'type':'Pod','min':{'cpu':'3'},'max':{'cpu':'2'}}`:                                    `spec.limits[0].min[cpu]: Invalid value: "3": min value 3 is greater than max value 2`,
		`{'type':'Container','defaultRequest':{'cpu':'2'},'default':{'cpu':'1'}}`:               `spec.limits[0].defaultRequest[cpu]: Invalid value: "2": default request value 2 is greater than default limit value 1`,
		`{'type':'Pod','maxLimitRequestRatio':{'cpu':'3'},'min':{'cpu':'1'},'max':{'cpu':'2'}}`: `spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000`,
	} {
		_, errs := kindtest.New(t, served, "limitranges").Create(`{'spec':{'limits':[` + item + `]}}`)
		is.Equal(errs, want) // same errors as the real server
	}
	_, errs = r.Create(`{'spec':{'limits':[{'type':'Pod'},{'type':'Pod'}]}}`)
	is.Equal(errs, `spec.limits[1].type: Duplicate value: "Pod"`)
	is.Equal(obj.Name(), "11111111-2222-3333-4444-555555555555") // an object without a name gets one
}
