package testenv

import "syscall"

// signalOnParentExit makes the system send the signal to the child once the thread that starts it has ended.
func signalOnParentExit(attr *syscall.SysProcAttr, last syscall.Signal) { attr.Pdeathsig = last }
