package gotest

import "runtime"

// edit is a change to a file of the Go tree from which the test binary is built.
type edit struct {
	file          string // path relative to GOROOT/src
	why           string
	before, after string // before occurs in the file exactly once
}

// edits lists all changes to existing files. Most of them call functions in the files of goroot, which are added to the Go
// tree.
var edits = []edit{
	// The clock.
	{
		file: "runtime/time_fake.go", why: "two readings of the clock differ",
		before: "func time_now() (sec int64, nsec int32, mono int64) {\n\treturn faketime / 1e9, int32(faketime % 1e9), faketime\n",
		after:  "func time_now() (sec int64, nsec int32, mono int64) {\n\tnow := virtualReadClock()\n\treturn now / 1e9, int32(now % 1e9), now\n",
	},
	{
		file: "runtime/time.go", why: "two readings of the clock differ, also for time.Since",
		before: "\t\treturn gp.bubble.now\n\t}\n\treturn nanotime()\n",
		after:  "\t\treturn gp.bubble.now\n\t}\n\treturn virtualReadClock()\n",
	},
	{
		file: "runtime/time_fake.go", why: "output has no headers for the Go playground",
		before: "\tif !(fd == 1 || fd == 2) {\n",
		after:  "\tif true {\n",
	},
	{
		file: "runtime/proc.go", why: "the clock starts at the date that the runner chooses",
		before: "\tgoenvs()\n\tsecure()\n",
		after:  "\tgoenvs()\n\tvirtualInit()\n\tsecure()\n",
	},
	{
		file: "runtime/proc.go", why: "the clock jumps only if no file or signal is ready, and never back",
		before: "\t\tif when := timeSleepUntil(); when < maxWhen {\n\t\t\tfaketime = when\n",
		after:  "\t\tready := virtualIdle()\n\t\tif when := timeSleepUntil(); ready || when < maxWhen {\n\t\t\tif !ready {\n\t\t\t\tvirtualJump(when)\n\t\t\t}\n",
	},
	{
		file: "runtime/proc.go", why: "a jump does not visit all goroutines, of which there may be thousands",
		before: "\tgrunning := 0\n\tforEachG(func(gp *g) {\n",
		after:  "\tgrunning := virtualTimers()\n\tvirtualEachG(grunning, func(gp *g) {\n",
	},

	// sysmon, the runtime's monitor thread, runs in real time.
	{
		file: "runtime/proc.go", why: "sysmon does not sleep for longer than 10 ms: child processes need the network, too",
		before: "\t\tif debug.schedtrace <= 0 && (sched.gcwaiting.Load() || sched.npidle.Load() == gomaxprocs) {\n\t\t\tlock(&sched.lock)\n",
		after:  "\t\tif faketime == 0 && debug.schedtrace <= 0 && (sched.gcwaiting.Load() || sched.npidle.Load() == gomaxprocs) {\n\t\t\tlock(&sched.lock)\n",
	},
	{
		file: "runtime/proc.go", why: "virtualMonitor polls the network",
		before: "\t\tif netpollinited() && lastpoll != 0 && lastpoll+10*1000*1000 < now {\n\t\t\tsched.lastpoll.CompareAndSwap(lastpoll, now)\n",
		after:  "\t\tif faketime == 0 && netpollinited() && lastpoll != 0 && lastpoll+10*1000*1000 < now {\n\t\t\tsched.lastpoll.CompareAndSwap(lastpoll, now)\n",
	},
	{
		file: "runtime/proc.go", why: "time slices are real; a hang is noticed",
		before: "\t\tif retake(now) != 0 {\n",
		after:  "\t\tif virtualMonitor() != 0 {\n",
	},
	{
		file: "runtime/proc.go", why: "in a seeded run sysmon wakes no goroutines",
		before: "\t\tlock(&sched.sysmonlock)\n\t\t// Update now in case we blocked on sysmonnote",
		after:  "\t\tif virtual.seeded {\n\t\t\tidle++\n\t\t\tvirtualMonitor()\n\t\t\tcontinue\n\t\t}\n\t\tlock(&sched.sysmonlock)\n\t\t// Update now in case we blocked on sysmonnote",
	},

	// Signals.
	{
		file: "runtime/sigqueue.go", why: "the goroutine that waits for signals does not block a thread, which would stop the clock",
		before: "\t\t\t\t\tnotetsleepg(&sig.note, -1)\n",
		after:  "\t\t\t\t\tvirtualAwaitSignal()\n",
	},

	{
		file:   "syscall/zsyscall_linux_" + runtime.GOARCH + ".go",
		why:    "a process may be a goroutine; a signal to the process itself arrives before the call returns: the kernel could choose an idle thread, and time could jump first",
		before: "func Kill(pid int, sig Signal) (err error) {\n",
		after:  "func Kill(pid int, sig Signal) (err error) {\n\tif handled, err := virtualKill(pid, sig); handled {\n\t\treturn err\n\t}\n\tif pid == Getpid() {\n\t\treturn Tgkill(pid, Gettid(), sig)\n\t}\n",
	},

	// Profiles.
	{
		file: "runtime/cpuprof.go", why: "the reader of a CPU profile does not block a thread, which would stop the clock",
		before: "\treadMode := profBufBlocking\n",
		after:  "\treadMode := profBufNonBlocking\n",
	},
	{
		file: "runtime/pprof/pprof.go", why: "so it reads every 100 ms",
		before: "\t\tif runtime.GOOS == \"darwin\" || runtime.GOOS == \"ios\" {\n\t\t\t// see runtime_pprof_readProfile\n",
		after:  "\t\t{\n",
	},

	// The main goroutine. A seeded run has one thread for all goroutines. Otherwise a second thread, for which memory is
	// allocated, might or might not be created, depending on the speed of the first one.
	{
		file: "runtime/proc.go", why: "does not begin on a thread of its own",
		before: "\tlockOSThread()\n\n\tif mp != &m0 {\n",
		after:  "\tif !virtual.seeded {\n\t\tlockOSThread()\n\t}\n\n\tif mp != &m0 {\n",
	},
	{
		file: "runtime/proc.go", why: "the same",
		before: "\tneedUnlock := true\n\tdefer func() {\n",
		after:  "\tneedUnlock := !virtual.seeded\n\tdefer func() {\n",
	},
	{
		file: "runtime/proc.go", why: "the same",
		before: "\tneedUnlock = false\n\tunlockOSThread()\n",
		after:  "\tif needUnlock {\n\t\tneedUnlock = false\n\t\tunlockOSThread()\n\t}\n",
	},

	// Random choices.
	{
		file: "runtime/rand.go", why: "a seeded run derives all keys of hashes from the seed",
		before: "\tif len(startupRand) >= 16 &&\n",
		after:  "\tif virtualSeed(seed[:]) {\n\t} else if len(startupRand) >= 16 &&\n",
	},
	{
		file: "runtime/rand.go", why: "a seeded run has one generator for all threads",
		before: "\tmp := getg().m\n\tc := &mp.chacha8\n\tfor {\n\t\t// Note: c.Next is marked nosplit,\n",
		after:  "\tif virtual.seeded {\n\t\treturn virtualRand()\n\t}\n\tmp := getg().m\n\tc := &mp.chacha8\n\tfor {\n\t\t// Note: c.Next is marked nosplit,\n",
	},
	{
		file: "runtime/rand.go", why: "how many threads there are does not count",
		before: "\tmp.cheaprand = rand()\n",
		after:  "\tmp.cheaprand = bootstrapRand()\n",
	},
	{
		file: "runtime/select.go", why: "the choices of select do not depend on the scheduler's draws",
		before: "\t\tj := cheaprandn(uint32(norder + 1))\n",
		after:  "\t\tj := virtualSelect(uint32(norder + 1))\n",
	},
	{
		file: "runtime/time.go", why: "nor does the order of timers in a bubble that are due at the same instant",
		before: "\t\t\tt.rand = cheaprand()\n",
		after:  "\t\t\tt.rand = virtualChoice(1 << 31)\n",
	},
	{
		file: "runtime/iface.go", why: "caches of type assertions allocate, at times that depend on the scheduler's draws: not in a seeded run",
		before: "\tif cheaprand()&1023 != 0 {\n\t\t// Only bother updating the cache ~1 in 1000 times.\n\t\treturn tab\n",
		after:  "\tif virtual.seeded || cheaprand()&1023 != 0 {\n\t\t// Only bother updating the cache ~1 in 1000 times.\n\t\treturn tab\n",
	},
	{
		file: "runtime/iface.go", why: "the same for type switches",
		before: "\tif cheaprand()&1023 != 0 {\n\t\t// Only bother updating the cache ~1 in 1000 times.\n\t\t// This",
		after:  "\tif virtual.seeded || cheaprand()&1023 != 0 {\n\t\t// Only bother updating the cache ~1 in 1000 times.\n\t\t// This",
	},
	{
		file: "crypto/internal/sysrand/rand.go", why: "keys and certificates of a seeded run are the same each time",
		before: "func Read(b []byte) {\n",
		after:  "func Read(b []byte) {\n\tif virtualSeeded {\n\t\tfor i := range b {\n\t\t\tb[i] = byte(virtualRand() >> 24)\n\t\t}\n\t\treturn\n\t}\n",
	},

	// Programs.
	{
		file: "os/exec.go", why: "a process may be a goroutine",
		before: "\tcleanup runtime.Cleanup\n}\n",
		after:  "\tcleanup runtime.Cleanup\n\n\tvirtual *virtualProcess\n\tvirtualStart virtualInstant // of a real process\n}\n",
	},
	{
		file: "os/exec_posix.go", why: "etcd and kube-apiserver are goroutines; the start of a real process is recorded",
		before: "\tattrSys, shouldDupPidfd := ensurePidfd(attr.Sys)\n",
		after:  "\tif p, err := startVirtual(name, argv, attr); p != nil || err != nil {\n\t\treturn p, err\n\t}\n\tstart := virtualNow()\n\tdefer func() {\n\t\tif p != nil {\n\t\t\tp.virtualStart = start\n\t\t}\n\t}()\n\tattrSys, shouldDupPidfd := ensurePidfd(attr.Sys)\n",
	},
	{
		file: "os/exec_unix.go", why: "waits for a goroutine; time passes during the wait for a real process",
		before: "func (p *Process) wait() (ps *ProcessState, err error) {\n",
		after:  "func (p *Process) wait() (ps *ProcessState, err error) {\n\tif p.virtual != nil {\n\t\treturn p.virtual.wait(p)\n\t}\n\tp.await()\n",
	},
	{
		file: "os/exec_unix.go", why: "ends a goroutine",
		before: "\t\treturn errors.New(\"os: unsupported signal type\")\n\t}\n",
		after:  "\t\treturn errors.New(\"os: unsupported signal type\")\n\t}\n\tif p.virtual != nil {\n\t\treturn p.virtual.signal(s)\n\t}\n\tif p.Pid == Getpid() {\n\t\treturn syscall.Kill(p.Pid, s)\n\t}\n",
	},
	{
		file: "os/proc.go", why: "reports the virtual time",
		before: "\truntime_beforeExit(code)\n",
		after:  "\tvirtualExit()\n\truntime_beforeExit(code)\n",
	},

	// Tests.
	{
		file: "testing/testing.go", why: "a test fails if an oracle does; its controllers still run",
		before: "\tfn(t)\n\n\t// code beyond here",
		after:  "\tfn(t)\n\tt.virtualEnd(!t.isParallel)\n\n\t// code beyond here",
	},
	{
		file: "testing/testing.go", why: "the same, for what its cleanup has done",
		before: "\tdefer func() {\n\t\tt.checkRaces()\n",
		after:  "\tdefer func() {\n\t\tt.virtualEnd(false)\n\t\tt.checkRaces()\n",
	},

	// The network.
	{
		file: "net/fd_posix.go", why: "a connection may be in memory",
		before: "\tladdr       Addr\n\traddr       Addr\n}\n",
		after:  "\tladdr       Addr\n\traddr       Addr\n\tvirtual     *virtualTCP\n}\n",
	},
	{
		file: "net/fd_posix.go", why: "closes the part in memory",
		before: "\truntime.SetFinalizer(fd, nil)\n\treturn fd.pfd.Close()\n",
		after:  "\truntime.SetFinalizer(fd, nil)\n\terr := fd.pfd.Close()\n\tif err == nil && fd.virtual != nil {\n\t\tfd.closeVirtual()\n\t}\n\treturn err\n",
	},
	{
		file: "net/fd_posix.go", why: "shuts down the part in memory",
		before: "\terr := fd.pfd.Shutdown(how)\n",
		after:  "\tif fd.virtual != nil {\n\t\treturn fd.virtual.shutdown(how)\n\t}\n\terr := fd.pfd.Shutdown(how)\n",
	},
	{
		file: "net/fd_posix.go", why: "reads from memory",
		before: "\tn, err = fd.pfd.Read(p)\n",
		after:  "\tif fd.virtual != nil {\n\t\treturn fd.virtual.in.Read(p)\n\t}\n\tn, err = fd.pfd.Read(p)\n",
	},
	{
		file: "net/fd_posix.go", why: "writes to memory",
		before: "\tnn, err = fd.pfd.Write(p)\n",
		after:  "\tif fd.virtual != nil {\n\t\treturn fd.virtual.out.Write(p)\n\t}\n\tnn, err = fd.pfd.Write(p)\n",
	},
	{
		file: "net/fd_posix.go", why: "deadlines of the part in memory",
		before: "\treturn fd.pfd.SetDeadline(t)\n",
		after:  "\tif fd.virtual != nil {\n\t\treturn fd.virtual.setDeadline(t)\n\t}\n\treturn fd.pfd.SetDeadline(t)\n",
	},
	{
		file: "net/fd_posix.go", why: "deadlines of the part in memory",
		before: "\treturn fd.pfd.SetReadDeadline(t)\n",
		after:  "\tif fd.virtual != nil {\n\t\treturn fd.virtual.setReadDeadline(t)\n\t}\n\treturn fd.pfd.SetReadDeadline(t)\n",
	},
	{
		file: "net/fd_posix.go", why: "deadlines of the part in memory",
		before: "\treturn fd.pfd.SetWriteDeadline(t)\n",
		after:  "\tif fd.virtual != nil {\n\t\treturn fd.virtual.setWriteDeadline(t)\n\t}\n\treturn fd.pfd.SetWriteDeadline(t)\n",
	},
	{
		file: "net/fd_unix.go", why: "accepts from memory",
		before: "\td, rsa, errcall, err := fd.pfd.Accept()\n",
		after:  "\tif fd.virtual != nil {\n\t\treturn fd.virtual.acceptVirtual()\n\t}\n\td, rsa, errcall, err := fd.pfd.Accept()\n",
	},
	{
		file: "net/writev_unix.go", why: "writes to memory",
		before: "\tn, err := c.fd.writeBuffers(v)\n",
		after:  "\tif c.fd.virtual != nil {\n\t\treturn v.WriteTo(struct{ io.Writer }{c})\n\t}\n\tn, err := c.fd.writeBuffers(v)\n",
	},
	{
		file: "net/writev_unix.go", why: "imports io",
		before: "import (\n",
		after:  "import (\n\t\"io\"\n",
	},
	{
		file: "net/tcpsock_posix.go", why: "copies to memory without the kernel",
		before: "\tif n, err, handled := spliceFrom(c.fd, r); handled {\n",
		after:  "\tif c.fd.virtual != nil {\n\t\treturn genericReadFrom(c, r)\n\t}\n\tif n, err, handled := spliceFrom(c.fd, r); handled {\n",
	},
	{
		file: "net/tcpsock_posix.go", why: "copies from memory without the kernel",
		before: "\tif n, err, handled := spliceTo(w, c.fd); handled {\n",
		after:  "\tif c.fd.virtual != nil {\n\t\treturn genericWriteTo(c, w)\n\t}\n\tif n, err, handled := spliceTo(w, c.fd); handled {\n",
	},
	{
		file: "net/sock_posix.go", why: "connects in memory",
		before: "\tvar lsa syscall.Sockaddr\n\tvar err error\n\tif laddr != nil {\n",
		after:  "\tif raddr != nil && fd.isTCP() {\n\t\tif handled, err := fd.dialVirtual(laddr, raddr); handled {\n\t\t\treturn err\n\t\t}\n\t}\n\tvar lsa syscall.Sockaddr\n\tvar err error\n\tif laddr != nil {\n",
	},
	{
		file: "net/sock_posix.go", why: "listens in memory",
		before: "\tif err = syscall.Bind(fd.pfd.Sysfd, lsa); err != nil {\n\t\treturn os.NewSyscallError(\"bind\", err)\n\t}\n\tif err = listenFunc(fd.pfd.Sysfd, backlog); err != nil {\n",
		after:  "\tif fd.isTCP() {\n\t\treturn fd.listenVirtual(laddr)\n\t}\n\tif err = syscall.Bind(fd.pfd.Sysfd, lsa); err != nil {\n\t\treturn os.NewSyscallError(\"bind\", err)\n\t}\n\tif err = listenFunc(fd.pfd.Sysfd, backlog); err != nil {\n",
	},
}
