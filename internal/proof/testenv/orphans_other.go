//go:build !linux

package testenv

import "syscall"

// signalOnParentExit does nothing here: the servers of a test that is killed keep running.
func signalOnParentExit(*syscall.SysProcAttr, syscall.Signal) {}
