package archtest

import (
	"go/ast"
	"go/token"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// concurrent are packages whose users run on several goroutines, whether or not they start them.
var concurrent = []string{"database/sql", "golang.org/x/sync", "net", "os/exec", "sync", "testing/synctest"}

// starters are functions and methods, of any package, that run their argument or their caller on another goroutine.
var starters = []string{"AfterFunc", "Parallel", "Pull", "Pull2", "RunParallel"}

// Goroutines returns the folders of the packages below root whose tests the race detector may tell something of: those that are
// part of the program, or could be, and of which some file, of tests too, starts goroutines, has channels, or imports what does.
// Others run what they do on one goroutine after another, and what they call has tests of its own.
func Goroutines(root fs.FS) ([]string, error) {
	all, err := readModule(root)
	if err != nil {
		return nil, err
	}
	return goroutines(all), nil
}

func goroutines(all []source) []string {
	found := make(map[string]bool)
	for i := range all {
		s := &all[i]
		ours := strings.HasPrefix(s.dir, "internal/") || strings.HasPrefix(s.dir, "cmd/")
		if ours && !found[s.dir] && s.hasGoroutines() {
			found[s.dir] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// hasGoroutines reports whether the file starts goroutines, has channels, or imports a package that does.
func (s *source) hasGoroutines() bool {
	for _, path := range s.imports() {
		for _, c := range concurrent {
			if path == c || strings.HasPrefix(path, c+"/") && path != "net/netip" && path != "net/url" && path != "net/mail" {
				return true
			}
		}
	}
	for n := range ast.Preorder(s.file) {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.SendStmt, *ast.SelectStmt, *ast.ChanType:
			return true
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				return true
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains(starters, f.Sel.Name) {
				return true
			}
		}
	}
	return false
}
