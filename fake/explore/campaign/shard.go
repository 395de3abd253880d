package campaign

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Environment variables that determine the shard of the seeds that a process runs.
const (
	// ShardVariable is I/N: every N-th seed, the I-th of them first; I counts from 1.
	ShardVariable = "KUBESIM_SHARD"
	// IndexVariable counts from 0; an Indexed Job gives it to each of its pods. ShardsVariable is N then.
	IndexVariable  = "JOB_COMPLETION_INDEX"
	ShardsVariable = "KUBESIM_SHARDS"
	// ResultsVariable names a file to which Explore appends its results, as Lines.
	ResultsVariable = "KUBESIM_RESULTS"
)

// Shard is a part of the seeds: every N-th, the I-th of them first.
type Shard struct{ I, N uint64 }

// Whole is all of them.
var Whole = Shard{1, 1}

// ParseShard reads I/N.
func ParseShard(text string) (Shard, error) {
	first, second, _ := strings.Cut(text, "/")
	i, err1 := strconv.ParseUint(first, 10, 64)
	n, err2 := strconv.ParseUint(second, 10, 64)
	if err1 != nil || err2 != nil || i == 0 || i > n {
		return Whole, errors.New("it must be I/N with I from 1 to N, such as 1/4")
	}
	return Shard{i, n}, nil
}

// ShardOf returns the part that the environment asks for, which getenv reads (os.Getenv).
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
		return Whole, fmt.Errorf("%s=%q is not one of %s=%q, counted from 0", IndexVariable, index, ShardsVariable, shards)
	}
	return Shard{i + 1, n}, nil
}

// String prints I/N.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.I, s.N) }
