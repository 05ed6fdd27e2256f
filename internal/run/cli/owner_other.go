//go:build !unix

package cli

// becomeOwner does nothing here, because folders have no owner whom root could become.
func becomeOwner(string, string) (bool, error) { return false, nil }
