//go:build !unix

package httpserver

// maxOpenFiles returns how many files this process may have open: the system sets no limit that matters here.
func maxOpenFiles() int { return 1 << 20 }
