package campaign

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Environment variables that determine which seeds a process runs.
const (
	// ShardVariable is I/N: run every N-th seed, starting at the I-th, counted from 1.
	ShardVariable = "KUBESIM_SHARD"
	// IndexVariable is the index of the shard, counted from 0, which an Indexed Job sets for each of its pods.
	// ShardsVariable is then the number of shards.
	IndexVariable  = "JOB_COMPLETION_INDEX"
	ShardsVariable = "KUBESIM_SHARDS"
	// ResultsVariable is the file to which Explore appends its results, as Lines.
	ResultsVariable = "KUBESIM_RESULTS"
)

// Shard is a subset of the seeds: every N-th seed, starting at the I-th, counted from 1.
type Shard struct{ I, N uint64 }

// Whole contains all seeds.
var Whole = Shard{1, 1}

// ParseShard parses I/N. It returns an error unless I is from 1 to N.
func ParseShard(text string) (Shard, error) {
	first, second, _ := strings.Cut(text, "/")
	i, err1 := strconv.ParseUint(first, 10, 64)
	n, err2 := strconv.ParseUint(second, 10, 64)
	if err1 != nil || err2 != nil || i == 0 || i > n {
		return Whole, errors.New("it must be I/N with I from 1 to N, for example 1/4")
	}
	return Shard{i, n}, nil
}

// ShardOf returns the shard that environment variables select, or Whole if they are not set. It returns an error if a
// value is invalid. getenv is usually os.Getenv.
func ShardOf(getenv func(string) string) (Shard, error) {
	if text := getenv(ShardVariable); text != "" {
		s, err := ParseShard(text)
		if err != nil {
			err = fmt.Errorf("%s=%q: %w", ShardVariable, text, err)
		}
		return s, err
	}
	index, shards := getenv(IndexVariable), getenv(ShardsVariable)
	if index == "" || shards == "" {
		return Whole, nil
	}
	i, err1 := strconv.ParseUint(index, 10, 64)
	n, err2 := strconv.ParseUint(shards, 10, 64)
	if err1 != nil || err2 != nil || i >= n {
		return Whole, fmt.Errorf("%s=%q must be at least 0 and less than %s=%q", IndexVariable, index, ShardsVariable, shards)
	}
	return Shard{i + 1, n}, nil
}

// String returns I/N.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.I, s.N) }
