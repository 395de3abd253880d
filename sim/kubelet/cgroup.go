package kubelet

import (
	"fmt"
	"math"

	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// This file simulates how a program sees the limits of its container: the files of cgroup v2, as the kubelet and runc write them,
// and the OOM score (package qos of the real kubelet).
const (
	cpuMax    = "/sys/fs/cgroup/cpu.max"
	cpuWeight = "/sys/fs/cgroup/cpu.weight"
	memoryMax = "/sys/fs/cgroup/memory.max"
	oomScore  = "/proc/1/oom_score_adj"
)

const (
	quotaPeriod = 100_000 // in microseconds
	quotaMin    = 1_000
	sharesMin   = 2
)

// kernelFile returns the content of one of the files above. It returns false for any other name.
func (w *worker) kernelFile(c *container, name string) (text string, ok bool) {
	amount := func(side, name string) (quantity.Quantity, bool) {
		for _, of := range []object.Object{c.run.Resources, w.rec.Level} {
			if text := of.String(side, name); text != "" {
				return quantity.Of(text), true
			}
		}
		return quantity.Quantity{}, false
	}
	switch name {
	case cpuMax:
		text = "max"
		if cpu, ok := amount("limits", "cpu"); ok {
			text = fmt.Sprint(max(cpu.MilliValue()*quotaPeriod/1000, quotaMin))
		}
		text = fmt.Sprintf("%s %d", text, quotaPeriod)
	case cpuWeight:
		cpu, ok := amount("requests", "cpu")
		if !ok {
			cpu, _ = amount("limits", "cpu")
		}
		text = fmt.Sprint(weightOf(max(cpu.MilliValue()*1024/1000, sharesMin)))
	case memoryMax:
		text = "max"
		if memory, ok := amount("limits", "memory"); ok {
			text = fmt.Sprint(memory.Value())
		}
	case oomScore:
		text = fmt.Sprint(w.oomScore(c))
	default:
		return "", false
	}
	return text + "\n", true
}

// weightOf converts CPU shares of cgroup v1 to a CPU weight of cgroup v2, as runc does since 1.3.2. 1024 shares become a weight
// of 100.
func weightOf(shares int64) int64 {
	l := math.Log2(float64(shares))
	return int64(math.Ceil(math.Pow(10, (l*l+125*l)/612-7.0/34)))
}

// oomScore returns the OOM score adjustment of a container, from -997 (killed last) to 1000 (killed first)
// (qos.GetContainerOOMScoreAdjust).
func (w *worker) oomScore(c *container) int64 {
	const last, first = -997, 1000
	switch w.pod.String("status", "qosClass") {
	case "Guaranteed":
		return last
	case "BestEffort":
		return first
	}
	asks := func(name string) int64 {
		return quantity.Of(w.rec.Allocated.get(name).String("requests", "memory")).Value()
	}
	memory := asks(c.name)
	if c.list == "initContainers" && podspec.IsSidecar(c.spec) { // a sidecar is killed no sooner than the regular containers
		least := int64(math.MaxInt64)
		for _, other := range w.pod.Objects("spec", "containers") {
			least = min(least, asks(other.String("name")))
		}
		memory = max(memory, least)
	}
	capacity := quantity.MustParse(nodeCapacity).Value()
	return min(max(first-first*memory/capacity, first+last), first-1)
}

// opens returns a function that opens the files of a container and reports whether a file exists. That function tries the kernel's
// files first, and then calls others unless others is nil.
func (w *worker) opens(c *container, others func(name string) (string, bool)) func(name string) (string, bool) {
	return func(name string) (string, bool) {
		if text, ok := w.kernelFile(c, name); ok || others == nil {
			return text, ok
		}
		return others(name)
	}
}
