package cli

import "syscall"

// clockUnsynchronized is STA_UNSYNC of adjtimex(2).
const clockUnsynchronized = 0x40

// clockSynchronized reports whether the kernel's clock is synchronized.
func clockSynchronized() (synchronized, known bool) {
	var t syscall.Timex // without modes: nothing is set
	if _, err := syscall.Adjtimex(&t); err != nil {
		return false, false
	}
	return t.Status&clockUnsynchronized == 0, true
}
