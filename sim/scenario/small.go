//go:build nocel

package scenario

// What the first engine of a page is without, because it would be a fiftieth larger.

func newRecorder(*World) (recorder, error) { return nil, ErrTooSmall }
func (*World) fork(*Op) error              { return ErrTooSmall }
func (*World) reload(*Op) error            { return ErrTooSmall }
