package fake_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/matryer/is"
)

const (
	inBatch   = "/apis/batch/v1/namespaces/default/"
	podsPath  = "/api/v1/namespaces/default/pods"
	jobPods   = `"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}`
	succeeded = `{"status":{"phase":"Succeeded"}}`
	failed    = `{"status":{"phase":"Failed"}}`
)

// pass lets time pass.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// end gives the pods that run a status.
func (c client) end(status string) {
	c.t.Helper()
	for _, p := range c.must("GET", podsPath, "").Objects("items") {
		if phase := p.String("status", "phase"); phase == "Pending" || phase == "Running" {
			if code, _, text := c.ask("PATCH", podsPath+"/"+p.Name()+"/status", "application/merge-patch+json", "", status); code != 200 {
				c.t.Fatal(text)
			}
		}
	}
}

// conditions returns the types and reasons of an object's conditions that are True.
func conditions(obj object.Object) (all []string) {
	for _, x := range obj.Objects("status", "conditions") {
		if x.String("status") == "True" {
			all = append(all, x.String("type")+" "+x.String("reason"))
		}
	}
	return all
}

func TestJob(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.must("POST", inBatch+"jobs", `{"metadata":{"name":"work"},"spec":{"completions":3,"parallelism":2,`+jobPods+`}}`)
		is.Equal(len(c.names(podsPath)), 2)
		for range 3 {
			c.end(succeeded)
			pass(2 * time.Second)
		}
		job := c.must("GET", inBatch+"jobs/work", "")
		is.Equal(conditions(job), []string{"SuccessCriteriaMet CompletionsReached", "Complete CompletionsReached"})
		is.Equal(job.Int64("status", "succeeded"), int64(3))
		is.Equal(len(job.Map("status", "uncountedTerminatedPods")), 0)
		is.Equal(c.reasons(), []string{"SuccessfulCreate", "SuccessfulCreate", "SuccessfulCreate", "Completed"})
		for _, p := range c.must("GET", podsPath, "").Objects("items") {
			is.Equal(len(p.Finalizers()), 0) // they are counted
		}
	})
}
