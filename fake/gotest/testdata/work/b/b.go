// Package b is a module of the workspace that another one imports.
package b

import "time"

// Wait waits for an hour.
func Wait() { time.Sleep(time.Hour) }
