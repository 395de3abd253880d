package explore

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// queued returns the total time for which the threads of a process have waited for a processor, or 0 if that is unknown (the second
// field of /proc/PID/task/TID/schedstat, in nanoseconds). The time of a thread that has ended is missing.
func queued(pid int) (total time.Duration) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid)) // the pattern is valid
	for _, file := range files {
		text, err := os.ReadFile(file)
		if fields := bytes.Fields(text); err == nil && len(fields) > 1 {
			waited, _ := strconv.ParseInt(string(fields[1]), 10, 64) // 0 if it is no number
			total += time.Duration(waited)
		}
	}
	return total
}
