package testenv

import "syscall"

// endWithUs makes the system send the signal once the thread that starts the process is gone.
func endWithUs(attr *syscall.SysProcAttr, last syscall.Signal) { attr.Pdeathsig = last }
