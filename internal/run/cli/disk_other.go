//go:build !linux && !darwin

package cli

// freeDisk returns false for known, because the standard library cannot measure free space on this system.
func freeDisk(string) (free int64, known bool) { return 0, false }
