package chance

import (
	"debug/elf"
	"debug/gosym"
	"os"
	"runtime"
	"sync"
	"syscall"
)

// mutexClock is the function from which a sync.Mutex reads the real time. A goroutine that has waited for a mutex for a millisecond puts it
// into another mode, in which the next goroutine is chosen differently (https://go.dev/src/internal/sync/mutex.go).
const mutexClock = "internal/sync.runtime_nanotime"

// returnsZero is the machine code of a function that returns 0, for processors that are supported.
var returnsZero = map[string][]byte{
	"amd64": {0x31, 0xc0, 0xc3},                               // XORL AX, AX; RET
	"arm64": {0x00, 0x00, 0x80, 0xd2, 0xc0, 0x03, 0x5f, 0xd6}, // MOVD $0, R0; RET
}

// stopMutexClock makes mutexClock return 0 in a traced process of this program that has not begun to run, so that no mutex depends on the
// real time. If that is not possible, the function stays as it is.
func stopMutexClock(pid int) {
	code, at := returnsZero[runtime.GOARCH], mutexClockEntry()
	if code != nil && at != 0 {
		_, _ = syscall.PtracePokeText(pid, uintptr(at), code) // if it fails, the function does not change
	}
}

// mutexClockEntry returns the address of mutexClock in this program, or 0 if it is unknown.
var mutexClockEntry = sync.OnceValue(func() uint64 {
	name, err := os.Executable()
	if err != nil {
		return 0
	}
	file, err := elf.Open(name)
	if err != nil {
		return 0
	}
	defer file.Close()
	text, lines := file.Section(".text"), file.Section(".gopclntab")
	if text == nil || lines == nil || file.Type != elf.ET_EXEC { // others are loaded at random addresses
		return 0
	}
	data, err := lines.Data()
	if err != nil {
		return 0
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, text.Addr))
	if err != nil {
		return 0
	}
	f := table.LookupFunc(mutexClock)
	if f == nil {
		return 0
	}
	return f.Entry
})
