package scheduler

import (
	"math"
	"slices"

	"github.com/kubesim/kubesim/sim/controller/workload"
)

// maxScore is the maximum score that a plugin gives a node.
const maxScore = 100

// scorers lists the score plugins with their weights (getDefaultPlugins). score returns false if it does not apply to the pod. Its
// scores are valid until the next call of cycle.room.
var scorers = []struct {
	weight int64
	score  func(c *cycle, among []*node) (scores []int64, ok bool)
}{
	{3, scoreTaints},
	{2, scoreAffinity},
	{1, scoreRoom},
	{2, scoreSpread},
	{2, scoreTerms},
	{2, scoreClaims},
	{1, scoreBalance},
	{1, scoreImages},
}

// scores returns the total score of each node in among, in the same order. They are valid until the next call for any cycle.
func (c *cycle) scores(among []*node) []int64 {
	sum := zeros(&c.s.memory.scratch.total, len(among))
	for _, s := range scorers {
		if scores, ok := s.score(c, among); ok {
			for i, n := range scores {
				sum[i] += s.weight * n
			}
		}
	}
	return sum
}

// room returns n zero scores. They are valid until the next call, which returns the same memory.
func (c *cycle) room(n int) []int64 { return zeros(&c.s.memory.scratch.scores, n) }

// each returns the result of score for each node in among. It is for plugins that score nodes independently of each other.
func (c *cycle) each(among []*node, score func(n *node) int64) []int64 {
	scores := c.room(len(among))
	for i, n := range among {
		scores[i] = score(n)
	}
	return scores
}

// scoreTaints prefers nodes with few PreferNoSchedule taints that the pod does not tolerate. It returns false if there are no such
// taints, because then the scores are all equal.
func scoreTaints(c *cycle, among []*node) ([]int64, bool) {
	scores := c.each(among, func(n *node) (count int64) {
		for _, t := range n.taints {
			if t.Effect == "PreferNoSchedule" && !workload.Tolerated(t, c.pod.tolerations) {
				count++
			}
		}
		return count
	})
	most := slices.Max(scores)
	for i, s := range scores {
		if scores[i] = maxScore; most > 0 {
			scores[i] -= maxScore * s / most
		}
	}
	return scores, most > 0
}

// scoreAffinity prefers nodes that match the pod's preferred node affinity. It returns false if no node matches.
func scoreAffinity(c *cycle, among []*node) ([]int64, bool) {
	scores := c.each(among, func(n *node) (sum int64) {
		for _, t := range c.pod.preferredNodes {
			if t.Match(n.name, n.labels) {
				sum += t.weight
			}
		}
		return sum
	})
	most := slices.Max(scores)
	for i, s := range scores {
		if most > 0 {
			scores[i] = maxScore * s / most
		}
	}
	return scores, most > 0
}

// scoreRoom prefers nodes with the most cpu and memory left (leastResourceScorer).
func scoreRoom(c *cycle, among []*node) ([]int64, bool) {
	return c.each(among, func(n *node) int64 {
		sum, of := int64(0), int64(0)
		left := func(has, used int64) {
			if has == 0 {
				return
			}
			if of++; used <= has {
				sum += (has - used) * maxScore / has
			}
		}
		left(n.allocatable.CPU, n.weight.CPU+c.pod.adds.CPU)
		left(n.allocatable.Memory, n.weight.Memory+c.pod.adds.Memory)
		return sum / max(of, 1)
	}), true
}

// scoreBalance prefers nodes on which the pod makes the utilization of cpu and memory more balanced (balancedResourceScorer). It
// returns false if the pod requests neither.
func scoreBalance(c *cycle, among []*node) ([]int64, bool) {
	if c.pod.requests.CPU == 0 && c.pod.requests.Memory == 0 {
		return nil, false
	}
	return c.each(among, func(n *node) int64 {
		with := balance(n, n.used.CPU+c.pod.requests.CPU, n.used.Memory+c.pod.requests.Memory)
		return maxScore/2 + (maxScore/2+with-balance(n, n.used.CPU, n.used.Memory))/2
	}), true
}

// balance returns a node's score for balance: 100 if cpu and memory are equally utilized, and 50 if one is fully used and the
// other is not used.
func balance(n *node, cpu, memory int64) int64 {
	if n.allocatable.CPU == 0 || n.allocatable.Memory == 0 {
		return maxScore
	}
	share := func(used, has int64) float64 { return min(float64(used)/float64(has), 1) }
	apart := math.Abs((share(cpu, n.allocatable.CPU) - share(memory, n.allocatable.Memory)) / 2)
	return int64((1 - apart) * maxScore)
}

// imagesMatter is the size in bytes below which an image is ignored, and imageMost the maximum that counts for one container.
const (
	imagesMatter = 23 << 20
	imageMost    = 1000 << 20
)

// scoreImages prefers nodes that have the pod's images. An image counts more if more nodes have it (ImageLocality).
func scoreImages(c *cycle, among []*node) ([]int64, bool) {
	if len(c.cluster.images) == 0 {
		return nil, false
	}
	most := imageMost * c.pod.containers
	return c.each(among, func(n *node) (sum int64) {
		for _, name := range c.pod.images {
			if _, there := n.images[name]; there {
				x := c.cluster.images[name]
				spread := float64(x.nodes) / float64(c.cluster.tree.size())
				sum += int64(float64(x.size) * spread)
			}
		}
		return maxScore * (min(max(sum, imagesMatter), most) - imagesMatter) / (most - imagesMatter)
	}), true
}
