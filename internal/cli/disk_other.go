//go:build !linux && !darwin

package cli

// freeDisk: the standard library does not tell it on this system.
func freeDisk(string) (free int64, known bool) { return 0, false }
