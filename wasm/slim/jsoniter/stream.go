package jsoniter

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// Stream writes JSON to a buffer, and from there to a Writer.
type Stream struct {
	// Error is the first thing that went wrong.
	Error error

	buf []byte
	out io.Writer
}

// NewStream returns a Stream. The size of its buffer is not used.
func NewStream(_ Config, out io.Writer, _ int) *Stream { return &Stream{out: out} }

// StreamPool lends Streams.
type StreamPool struct{}

// Pool returns a pool.
func (*Stream) Pool() StreamPool { return StreamPool{} }

// BorrowStream returns a Stream to out.
func (StreamPool) BorrowStream(out io.Writer) *Stream { return &Stream{out: out} }

// ReturnStream takes a Stream back.
func (StreamPool) ReturnStream(*Stream) {}

// Buffer returns what has not been flushed.
func (s *Stream) Buffer() []byte { return s.buf }

// SetBuffer sets what has not been flushed.
func (s *Stream) SetBuffer(buf []byte) { s.buf = buf }

// Flush writes the buffer and empties it.
func (s *Stream) Flush() error {
	if s.out == nil || s.Error != nil {
		return s.Error
	}
	_, s.Error = s.out.Write(s.buf)
	s.buf = s.buf[:0]
	return s.Error
}

// Write puts bytes into the buffer.
func (s *Stream) Write(p []byte) (int, error) {
	s.buf = append(s.buf, p...)
	return len(p), nil
}

// WriteRaw puts a text into the buffer as it is.
func (s *Stream) WriteRaw(text string) { s.buf = append(s.buf, text...) }

// WriteObjectStart begins an object.
func (s *Stream) WriteObjectStart() { s.buf = append(s.buf, '{') }

// WriteObjectEnd ends an object.
func (s *Stream) WriteObjectEnd() { s.buf = append(s.buf, '}') }

// WriteEmptyObject writes an object without fields.
func (s *Stream) WriteEmptyObject() { s.buf = append(s.buf, '{', '}') }

// WriteMore separates two fields.
func (s *Stream) WriteMore() { s.buf = append(s.buf, ',') }

// WriteInt writes a number.
func (s *Stream) WriteInt(n int) { s.buf = strconv.AppendInt(s.buf, int64(n), 10) }

// WriteObjectField writes the name of a field. Nothing but quotes, backslashes and control characters is escaped.
func (s *Stream) WriteObjectField(name string) {
	s.buf = append(s.buf, '"')
	for i := range len(name) {
		switch c := name[i]; c {
		case '"', '\\':
			s.buf = append(s.buf, '\\', c)
		case '\n':
			s.buf = append(s.buf, '\\', 'n')
		case '\r':
			s.buf = append(s.buf, '\\', 'r')
		case '\t':
			s.buf = append(s.buf, '\\', 't')
		default:
			if c < ' ' {
				s.buf = fmt.Appendf(s.buf, `\u%04x`, c)
			} else {
				s.buf = append(s.buf, c)
			}
		}
	}
	s.buf = append(s.buf, '"', ':')
}

// WriteVal writes a value as encoding/json does.
func (s *Stream) WriteVal(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		if s.Error == nil {
			s.Error = err
		}
		return
	}
	s.buf = append(s.buf, data...)
}
