package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// modulePath begins the import path of every package of this module.
const modulePath = "wayside"

// source is one parsed file.
type source struct {
	path  string // within the module, with slashes
	dir   string
	test  bool
	lines int
	set   *token.FileSet
	file  *ast.File
}

// readModule parses every Go file below root, those of nested modules aside.
func readModule(root fs.FS) ([]source, error) {
	var all []source
	set := token.NewFileSet()
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules" || nested(root, name)) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(set, name, text, parser.ParseComments)
		if err != nil {
			return err
		}
		all = append(all, source{
			path: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go"),
			lines: strings.Count(string(text), "\n"), set: set, file: file,
		})
		return nil
	})
	return all, err
}

func nested(root fs.FS, dir string) bool {
	_, err := fs.Stat(root, path.Join(dir, "go.mod"))
	return err == nil
}

// pkg returns the package's path below internal/, or "" for one elsewhere.
func (s *source) pkg() string {
	below, ok := strings.CutPrefix(s.dir, "internal/")
	if !ok {
		return ""
	}
	return below
}

// ships reports whether the file is part of the binary, or could be. Programs that only test the service are clients of
// it.
func (s *source) ships() bool {
	return !slices.Contains(suites, s.pkg()) && (strings.HasPrefix(s.dir, "internal/") || strings.HasPrefix(s.dir, "cmd/"))
}

// imports lists the paths that the file imports.
func (s *source) imports() []string {
	var paths []string
	for _, spec := range s.file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

// at formats a finding at a node.
func (s *source) at(n ast.Node, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: %s", s.path, s.set.Position(n.Pos()).Line, fmt.Sprintf(format, args...))
}

// uses finds the uses of name from the package with the given import path.
func (s *source) uses(importPath, name string) []ast.Node {
	local := ""
	for _, spec := range s.file.Imports {
		if spec.Path.Value == strconv.Quote(importPath) {
			local = path.Base(importPath)
			if spec.Name != nil {
				local = spec.Name.Name
			}
		}
	}
	var found []ast.Node
	ast.Inspect(s.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || local == "" || sel.Sel.Name != name {
			return true
		}
		if id, ok := sel.X.(*ast.Ident); ok && id.Name == local {
			found = append(found, n)
		}
		return true
	})
	return found
}
