//go:build !unix

package cli

// openFilesLimit returns false for known, because this system has no such limit.
func openFilesLimit() (limit uint64, known bool) { return 0, false }
