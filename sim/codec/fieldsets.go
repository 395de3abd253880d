package codec

import (
	"reflect"
	"sync"

	"github.com/kubesim/kubesim/sim/object"
)

// fieldSets remembers the values of type FieldsV1 that were stored last. They are half of a small object, the same
// ones are sent back with every update and printed with every answer, and few of them differ.
//
//	text {"f:data":{"f:a":{}}} ◀──── byText, byValue ────▶ map[string]any
//
// A remembered value is printed by copying its text, and who reads the text gets the value itself: values of this type
// are never changed in place. All Clusters of the process share the memory; no answer depends on what is in it.
var fieldSets memory

const (
	setsMax    = 512      // how many values are remembered; one more, and all are forgotten
	setTextMax = 16 << 10 // values with a longer text are not remembered; bytes
)

type memory struct {
	mu      sync.Mutex
	byText  map[string]map[string]any
	byValue map[uintptr]string // by the address of a value in byText
}

func address(value map[string]any) uintptr { return reflect.ValueOf(value).Pointer() }

// read returns the value of a text, or nil.
func (s *memory) read(text string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byText[text]
}

// append prints a value.
func (s *memory) append(dst []byte, value map[string]any) []byte {
	s.mu.Lock()
	text, ok := s.byValue[address(value)]
	s.mu.Unlock()
	if ok {
		return append(dst, text...)
	}
	return object.AppendJSON(dst, value)
}

// learn remembers a value that is not changed any more. It reports whether this one was new.
func (s *memory) learn(value map[string]any) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.byValue[address(value)]; ok {
		return false
	}
	text := string(object.JSON(value))
	if _, ok := s.byText[text]; ok || len(text) > setTextMax {
		return true
	}
	if s.byText == nil || len(s.byText) >= setsMax {
		s.byText, s.byValue = map[string]map[string]any{}, map[uintptr]string{}
	}
	s.byText[text], s.byValue[address(value)] = value, text
	return true
}
