package batch

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/cron"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	cronJobs = "cronjobs.batch"

	scheduledAt = "batch.kubernetes.io/cronjob-scheduled-timestamp"
)

var cronOwner = workload.Owner{Resource: cronJobs}

// CronJob creates the Jobs of CronJobs according to their schedules (pkg/controller/cronjob).
//
// A schedule without a time zone uses UTC, as in a control plane that runs in containers. Time zones are loaded from the machine.
// If they are not available, as in the web page, a CronJob with a time zone creates no Jobs, and the event UnknownTimeZone is
// recorded.
func CronJob() controller.Controller {
	return controller.Account("cronjob-controller", "cronjob-controller", controller.Func(reconcileCronJob),
		controller.Watch{Resource: cronJobs, Keys: cronJobChanged},
		controller.Watch{Resource: jobs, Keys: cronJobOf})
}

// cronJobOf returns the keys of the CronJobs that control a Job, now or before the commit.
func cronJobOf(api *controller.Client, c *commit.Commit) (keys []controller.Key) {
	for _, it := range []*resource.Item{c.Before(), c.Item()} {
		if it == nil {
			continue
		}
		ref := factsOf(it).controller.Value()
		if ref.Kind != "CronJob" {
			continue
		}
		key := controller.Key{Namespace: c.Namespace, Name: ref.Name}
		if owner := api.Item(cronJobs, key.Namespace, key.Name); owner != nil && factsOf(owner).uid == ref.UID && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// cronJobChanged returns the key of a CronJob. If only the schedule has changed, it queues the key for the next scheduled time
// instead.
func cronJobChanged(api *controller.Client, c *commit.Commit) []controller.Key {
	key := controller.Key{Namespace: c.Namespace, Name: c.Name}
	if c.Before() == nil || c.Deleted() {
		return []controller.Key{key}
	}
	now, before := c.Object(), c.OldObject()
	if now.String("spec", "schedule") == before.String("spec", "schedule") && object.Equal(now.At("spec")["timeZone"], before.At("spec")["timeZone"]) {
		return []controller.Key{key}
	}
	j := cronJob{Workload: workload.Workload{Owner: cronOwner, API: api, Object: now}}
	if err := j.parse(); err != nil {
		j.warn("UnParseableCronJobSchedule", "unparseable schedule for cronjob: "+now.String("spec", "schedule"))
		return nil
	}
	api.EnqueueAfter(key, j.wait())
	return nil
}

// cronJob is one reconcile of a CronJob.
type cronJob struct {
	workload.Workload
	children []object.Object // Jobs that it controls
	status   object.Object   // the new status
	dirty    bool            // the status differs from the stored one and has to be written

	schedule *cron.Schedule
	zone     *time.Location
}

func reconcileCronJob(api *controller.Client, key controller.Key) (again time.Duration, failed *status.Status) {
	obj := api.GetShared(cronJobs, key.Namespace, key.Name)
	if obj == nil {
		return 0, nil
	}
	j := cronJob{Workload: workload.Workload{Owner: cronOwner, API: api, Object: obj}, status: obj.At("status").Copy()}
	if j.status == nil {
		j.status = object.Object{}
	}
	for _, ref := range api.Owned(obj.UID()) {
		child := api.GetShared(ref.Resource, ref.Namespace, ref.Name)
		if ref.Resource == jobs && child != nil && workload.ControllerOf(child).String("uid") == obj.UID() {
			j.children = append(j.children, child)
		}
	}
	slices.SortStableFunc(j.children, func(a, b object.Object) int { return strings.Compare(a.Name(), b.Name()) })
	j.cleanUp()
	again, failed = j.sync()
	if j.dirty {
		changed := j.Object.Copy()
		changed["status"] = map[string]any(j.status)
		if _, s := api.Update(cronJobs, "status", changed); s != nil {
			return 0, s
		}
	}
	if again != 0 {
		return again, nil // like the real controller, do not retry before the next scheduled time
	}
	return 0, failed
}

// sync updates the status from the CronJob's Jobs, and creates a Job if one is due (syncCronJob).
func (j *cronJob) sync() (again time.Duration, failed *status.Status) {
	j.observe()
	j.missing()
	if j.Object.DeletionTimestamp() != "" {
		return 0, nil
	}
	if zone, named := j.timeZone(); named {
		if _, err := loadZone(zone); err != nil {
			j.warn("UnknownTimeZone", fmt.Sprintf("invalid timeZone: %q: %s", zone, err))
			return 0, nil
		}
	}
	if j.Object.True("spec", "suspend") {
		return 0, nil
	}
	spec := j.Object.String("spec", "schedule")
	if strings.Contains(spec, "TZ") {
		j.warn("UnsupportedSchedule", fmt.Sprintf("CRON_TZ or TZ used in schedule %q is not officially supported, see "+
			"https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details", spec))
	}
	if err := j.parse(); err != nil {
		j.warn("UnparseableSchedule", fmt.Sprintf("unparseable schedule: %q : %s", spec, err))
		return 0, nil
	}
	at, missed, err := j.due(j.deadline())
	switch {
	case err != nil:
		j.warn("InvalidSchedule", fmt.Sprintf("invalid schedule: %s : %s", spec, err))
		return 0, nil
	case at.IsZero():
		return j.wait(), nil
	case missed > missedMany:
		j.warn("TooManyMissedTimes", "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew")
	}
	return j.start(at)
}

// start creates the Job for a scheduled time, unless it is too late or the concurrency policy forbids it.
func (j *cronJob) start(at time.Time) (again time.Duration, failed *status.Status) {
	if seconds, ok := j.startingDeadline(); ok && at.Add(seconds).Before(j.API.Now()) {
		j.warn("MissSchedule", "Missed scheduled time to start a job: "+at.UTC().Format(time.RFC1123Z))
		return j.wait(), nil
	}
	name := fmt.Sprintf("%s-%d", j.Object.Name(), at.Unix()/60)
	active := j.status.Objects("active")
	policy := j.Object.String("spec", "concurrencyPolicy")
	switch {
	case slices.ContainsFunc(active, func(ref object.Object) bool { return ref.String("name") == name }),
		workload.TimeOf(j.status.String("lastScheduleTime")).Equal(at):
		return j.wait(), nil
	case policy == "Forbid" && len(active) > 0:
		j.say("JobAlreadyActive", "Not starting job because prior execution is running and concurrency policy is Forbid")
		return j.wait(), nil
	case policy == "Replace":
		for _, ref := range active {
			job := j.API.Live(jobs, j.Object.Namespace(), ref.String("name"))
			if job == nil {
				s := status.NotFound(j.API.Definition(jobs).GroupResource(), ref.String("name"))
				j.warn("FailedGet", "Get job: "+s.Message)
				return 0, s
			}
			if !j.delete(job) {
				return 0, status.Internal(fmt.Errorf("could not replace job %s/%s", job.Namespace(), job.Name()))
			}
		}
	}
	job, failed := j.create(name, at)
	if job == nil {
		return 0, failed
	}
	j.status["active"] = append(j.status.List("active"), map[string]any{"kind": "Job", "apiVersion": "batch/v1", "namespace": job.Namespace(),
		"name": job.Name(), "uid": job.UID(), "resourceVersion": job.ResourceVersion()})
	j.status["lastScheduleTime"], j.dirty = object.Time(at), true
	return j.wait(), nil
}

// create creates the Job with the name for a scheduled time, and returns it. If the Job already exists but is not in the status,
// create returns the existing Job. It returns nil if the status need not change.
func (j *cronJob) create(name string, at time.Time) (object.Object, *status.Status) {
	template := j.Object.At("spec", "jobTemplate").Copy()
	meta := object.Object{"name": name, "namespace": j.Object.Namespace(), "ownerReferences": []any{j.Ref()}}
	if labels := template.Map("metadata", "labels"); len(labels) > 0 {
		meta["labels"] = labels
	}
	annotations := object.Object(template.Map("metadata", "annotations"))
	if annotations == nil {
		annotations = object.Object{}
	}
	in := time.UTC
	if zone, named := j.timeZone(); named {
		in, _ = loadZone(zone) // cannot fail: parse has loaded the zone
	}
	annotations[scheduledAt] = at.In(in).Format(time.RFC3339)
	meta["annotations"] = map[string]any(annotations)
	made, failed := j.API.Create(jobs, object.Object{"kind": "Job", "apiVersion": "batch/v1", "metadata": map[string]any(meta), "spec": template.Map("spec")})
	switch {
	case failed == nil:
		j.say("SuccessfulCreate", "Created job "+name)
		return made.Object(), nil
	case workload.Terminating(failed):
		return nil, failed
	case failed.Reason != status.ReasonAlreadyExists:
		j.warn("FailedCreate", "Error creating job: "+failed.Message)
		return nil, failed
	}
	job := j.API.Live(jobs, j.Object.Namespace(), name)
	if workload.ControllerOf(job).String("uid") != j.Object.UID() || j.listed(job.UID()) {
		return nil, nil
	}
	return job, nil
}

func (j *cronJob) timeZone() (name string, named bool) {
	v, ok := j.Object.Get("spec", "timeZone")
	name, _ = v.(string)
	return name, ok && v != nil
}

// parse parses the schedule and loads its time zone.
func (j *cronJob) parse() (err error) {
	if j.schedule, err = cron.Parse(j.Object.String("spec", "schedule")); err != nil {
		return err
	}
	zone, _ := j.timeZone()
	if j.zone, err = loadZone(cmp.Or(j.schedule.Zone, zone)); err != nil && j.schedule.Zone == "" {
		j.zone, err = time.UTC, nil // the event UnknownTimeZone reports this
	}
	return err
}

// loadZone loads the named time zone. It returns an error if the zone is unknown or the machine does not have it.
func loadZone(name string) (*time.Location, error) {
	if strings.EqualFold(name, "Local") {
		return time.UTC, nil
	}
	if err := cron.CheckZone(name); err != nil {
		return nil, err
	}
	zone, err := time.LoadLocation(name)
	if err != nil { // this message does not depend on the operating system, unlike err's
		return nil, errors.New("unknown time zone " + name)
	}
	return zone, nil
}

// next returns the first scheduled time after the given time.
func (j *cronJob) next(after time.Time) time.Time { return j.schedule.Next(after.In(j.zone)) }

func (j *cronJob) startingDeadline() (time.Duration, bool) {
	seconds, ok := j.Object.Int("spec", "startingDeadlineSeconds")
	return time.Duration(seconds) * time.Second, ok
}

// deadline returns the time before which missed Jobs are no longer started, or the zero time if there is no such limit.
func (j *cronJob) deadline() time.Time {
	if d, ok := j.startingDeadline(); ok {
		return j.API.Now().Add(-d)
	}
	return time.Time{}
}

// last returns the last scheduled time, or the creation time of the CronJob if there is none.
func (j *cronJob) last() time.Time {
	return workload.TimeOf(cmp.Or(j.status.String("lastScheduleTime"), j.Object.String("status", "lastScheduleTime"),
		j.Object.String("metadata", "creationTimestamp")))
}

// missedMany is the number of missed times above which a warning is recorded.
const missedMany = 100

// due returns the most recent scheduled time after both the last schedule and the deadline, and the approximate number of scheduled
// times in that period (mostRecentScheduleTime). If there is none, it returns the zero time.
func (j *cronJob) due(deadline time.Time) (at time.Time, missed int64, err error) {
	now, from := j.API.Now(), j.last()
	if deadline.After(from) {
		from = deadline
	}
	first := j.next(from)
	second := j.next(first)
	switch {
	case now.Before(first):
		return at, 0, nil
	case now.Before(second):
		return first, 0, nil
	}
	interval := int64(second.Sub(first).Round(time.Second) / time.Second)
	if interval < 1 {
		return at, 0, errors.New("time difference between two schedules is less than 1 second")
	}
	missed = int64(now.Sub(first)/time.Second)/interval + 1
	for t := j.next(first.Add(time.Duration((missed-2)*interval) * time.Second)); !t.After(now); t = j.next(t) {
		at = t
	}
	return at, missed, nil
}

// wait returns the delay until the next check of the CronJob, shortly after the next scheduled time (nextScheduleTimeDuration).
func (j *cronJob) wait() time.Duration {
	const padding = 100 * time.Millisecond
	at, missed, err := j.due(time.Time{})
	if at.IsZero() {
		if at = j.API.Now(); err == nil && missed == 0 {
			at = j.last()
		}
	}
	return max(j.next(at).Add(padding).Sub(j.API.Now()), 1)
}

func (j *cronJob) say(reason, message string) {
	_ = j.API.Event(j.Object, "Normal", reason, message) // failed events are not retried
}

func (j *cronJob) warn(reason, message string) {
	_ = j.API.Event(j.Object, "Warning", reason, message)
}
