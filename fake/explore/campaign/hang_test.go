package campaign_test

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake/explore/campaign"
)

const stacks = `goroutine 1 [chan receive]:
testing.(*T).Run(0x0)
	/usr/local/go/src/testing/testing.go:1 +0x1

goroutine 21 [select (durable), synctest bubble 1]:
example.com/wire.ask(...)
	/src/wire/wire.go:10 +0x1
example.com/mapper.(*Mapper).discover(0xc000010000, 0x1)
	/src/mapper/mapper.go:40 +0x1
created by example.com/manager.start in goroutine 20
	/src/manager/manager.go:9 +0x1

goroutine 22 [sync.Mutex.Lock, synctest bubble 1]:
internal/sync.runtime_SemacquireMutex(0x1, 0x0, 0x1)
	/usr/local/go/src/runtime/sema.go:95 +0x25
internal/sync.(*Mutex).lockSlow(0xc000010040)
	/usr/local/go/src/internal/sync/mutex.go:149 +0x15d
sync.(*Mutex).Lock(...)
	/usr/local/go/src/sync/mutex.go:46
example.com/mapper.(*Mapper).KindFor(0xc000010000)
	/src/mapper/mapper.go:30 +0x1
`

// TestHang checks that the report names the goroutine that waits for a mutex and the goroutine that holds it.
func TestHang(t *testing.T) {
	is := is.New(t)
	report, waits := campaign.Hang(stacks)
	is.True(waits)
	is.True(strings.Contains(report, "goroutine 22 [sync.Mutex.Lock]\n    example.com/mapper.(*Mapper).KindFor /src/mapper/mapper.go:30"))
	is.True(strings.Contains(report, "waits for the mutex at 0xc000010040; this goroutine probably holds it: goroutine 21 [select (durable)]"))
	is.True(strings.Contains(report, "example.com/mapper.(*Mapper).discover /src/mapper/mapper.go:40"))
	is.True(!strings.Contains(report, "goroutine 1 ")) // not in a bubble

	for _, state := range []string{"runnable,", "syscall,"} {
		_, waits = campaign.Hang(strings.Replace(stacks, "sync.Mutex.Lock,", state, 1))
		is.True(!waits) // it may only be slow
	}
	report, _ = campaign.Hang(strings.Replace(stacks, "sync.Mutex.Lock,", "select (durable),", 1))
	is.Equal(report, "") // time can advance
}
