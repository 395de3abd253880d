//go:build nocel

package scenario

func newRecorder(*World) (recorder, error) { return nil, ErrTooSmall }
