package fake

// hangMark stands before the report of the watchdog.
const hangMark = "kubesim: no progress: "

// watch starts the watchdog.
func (x *explored) watch() {}
