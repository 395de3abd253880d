package core

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
)

func TestCoreEvent(t *testing.T) {
	is := is.New(t)
	for text, want := range map[string]string{
		`{'metadata':{'namespace':'n'},'involvedObject':{'namespace':'n'}}`: "",
		`{'metadata':{'namespace':'default'}}`:                              "",
		`{'metadata':{'namespace':'n'}}`:                                    `involvedObject.namespace: Invalid value: "": does not match event.namespace`,
		`{'metadata':{'namespace':'n'},'involvedObject':{'namespace':'m'}}`: `involvedObject.namespace: Invalid value: "m": does not match event.namespace`,
		`{'metadata':{'namespace':'kube-system'},'eventTime':'2024-01-01T00:00:00.000000Z','reportingComponent':'a/b','reportingInstance':'i','action':'a'}`: "reason: Required value",
	} {
		_, errs := kindtest.New(t, served, "events").Create(text)
		is.Equal(errs, want) // same errors as the real server
	}
}

func TestStrictEvent(t *testing.T) {
	is := is.New(t)
	r := kindtest.New(t, served, "events")
	r.Ctx.Definition.Group = eventsGroup
	_, errs := r.Create(`{'metadata':{'namespace':'default','name':'x'},'type':'Odd','count':1,'source':{'component':'c'},'series':{'count':1}}`)
	is.Equal(errs, "series.count: Invalid value: \"\": should be at least 2\nseries.lastObservedTime: Required value\neventTime: Required value\n"+
		"type: Invalid value: \"\": has invalid value: Odd\ncount: Invalid value: \"\": needs to be unset\nsource: Invalid value: \"\": needs to be unset")
	obj, errs := r.Create(`{'metadata':{'namespace':'default','name':'x'},'type':'Normal','eventTime':'2024-01-01T00:00:00.000000Z','reportingComponent':'a/b','reportingInstance':'i','action':'a','reason':'r'}`)
	is.Equal(errs, "")
	_, errs = r.Update(obj, `{'reason':'s','series':{'count':2,'lastObservedTime':'2024-01-01T00:00:01.000000Z'},'involvedObject':{'kind':'Pod'}}`, "")
	is.Equal(errs, `involvedObject: Invalid value: {"Kind":"Pod","Namespace":"","Name":"","UID":"","APIVersion":"","ResourceVersion":"","FieldPath":""}: field is immutable`+"\n"+
		"reason: Invalid value: \"s\": field is immutable\nreason: Invalid value: \"s\": field is immutable")
}

func TestEventVersions(t *testing.T) {
	is := is.New(t)
	r := kindtest.New(t, served, "events")
	text := `{'action':'a','apiVersion':'events.k8s.io/v1','deprecatedCount':2,'deprecatedSource':{'host':'h'},'kind':'Event','note':'n','regarding':{'kind':'Pod'},'reportingController':'c'}`
	c := r.Kind.Convert[eventsVersion]
	hub, err := c.ToHub(r.Parse(text))
	is.NoErr(err)
	is.Equal(kindtest.Part(hub), `{'action':'a','apiVersion':'v1','count':2,'involvedObject':{'kind':'Pod'},'kind':'Event','message':'n','reportingComponent':'c','source':{'host':'h'}}`)
	back, err := c.FromHub(hub)
	is.NoErr(err)
	is.Equal(kindtest.Part(back), text) // the conversion loses nothing
	is.Equal(r.Kind.Labels[eventsVersion]["regarding.kind"], "involvedObject.kind")
}

func TestEventRow(t *testing.T) {
	is := is.New(t)
	r := kindtest.New(t, served, "events")
	row := eventRow(r.Ctx.Now, r.Parse(`{'metadata':{'name':'e'},'involvedObject':{'kind':'Pod','name':'p'},'eventTime':'2026-01-02T03:03:35.000000Z','message':' m ','reportingComponent':'c','reportingInstance':'i'}`))
	is.Equal(row.Cells, []any{"30s", "", "", "pod/p", "", "c, i", "m", "30s", int64(1), "e"})
	row = eventRow(r.Ctx.Now, r.Parse(`{'firstTimestamp':'2026-01-02T02:04:05Z','series':{'count':7,'lastObservedTime':'2026-01-02T03:04:04.500000Z'},'source':{'component':'k','host':'h'}}`))
	is.Equal(row.Cells, []any{"0s", "", "", "", "", "k, h", "", "60m", int64(7), ""})
}
