package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// mutation is one change: the bytes from start to end of a file become text.
type mutation struct {
	file       string
	line       int
	start, end int
	before     string // as the report shows it
	text       string
}

// String returns a line of the report.
func (m mutation) String() string {
	return fmt.Sprintf("%s:%d: %s → %s", m.file, m.line, shorten(m.before), shorten(m.text))
}

// shorten keeps a change on one line of a report.
func shorten(text string) string {
	const longest = 70
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return "(nothing)"
	}
	if runes := []rune(text); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return text
}

// apply returns the file's text with the change.
func (m *mutation) apply(text []byte) []byte {
	return slices.Concat(text[:m.start], []byte(m.text), text[m.end:])
}

// operators maps operators to their replacements.
var operators = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
}

// finder collects the changes of one file.
type finder struct {
	name  string
	text  []byte
	set   *token.FileSet
	found []mutation
}

// mutations lists all changes of a file, in the order of its lines. Generated files have none.
func mutations(name string, text []byte) ([]mutation, error) {
	f := &finder{name: name, text: text, set: token.NewFileSet()}
	file, err := parser.ParseFile(f.set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(file) {
		return nil, nil
	}
	ast.Inspect(file, f.visit)
	slices.SortStableFunc(f.found, func(a, b mutation) int { return cmp.Compare(a.start, b.start) })
	return f.found, nil
}

func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BasicLit:
		f.number(n)
	case *ast.BinaryExpr:
		if other, ok := operators[n.Op]; ok && !isText(n.X) && !isText(n.Y) {
			f.replace(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other.String(), n)
		}
	case *ast.IfStmt:
		f.replace(n.Cond.Pos(), n.Cond.End(), "!("+f.source(n.Cond)+")", n.Cond)
		if n.Else == nil && leaves(n.Body) {
			f.replace(n.Cond.Pos(), n.Cond.End(), "false && ("+f.source(n.Cond)+")", n.Cond)
		}
	case *ast.ExprStmt:
		if call, ok := n.X.(*ast.CallExpr); ok && !locks(call) {
			f.replace(n.Pos(), n.End(), "", n)
		}
	case *ast.IncDecStmt:
		f.replace(n.Pos(), n.End(), "", n)
	}
	return true
}

// number changes a numeric constant to ten times its value, to a tenth, and to one more.
func (f *finder) number(n *ast.BasicLit) {
	if n.Kind != token.INT && n.Kind != token.FLOAT {
		return
	}
	changes := []string{n.Value + " * 10", n.Value + " / 10", n.Value + " + 1"}
	switch n.Value {
	case "0":
		changes = changes[2:]
	case "1", "2": // a tenth of it is 0 among integers, and ten times it tests little more than one more
		changes = changes[1:]
	}
	for _, change := range changes {
		f.replace(n.Pos(), n.End(), "("+change+")", n)
	}
}

func (f *finder) source(n ast.Node) string {
	return string(f.text[f.offset(n.Pos()):f.offset(n.End())])
}

func (f *finder) offset(p token.Pos) int { return f.set.Position(p).Offset }

// replace records a change of the bytes from start to end; whole is the part that the report shows, before and after.
func (f *finder) replace(start, end token.Pos, text string, whole ast.Node) {
	m := mutation{file: f.name, line: f.set.Position(start).Line, start: f.offset(start), end: f.offset(end), text: text, before: f.source(whole)}
	if b, ok := whole.(*ast.BinaryExpr); ok && start == b.OpPos { // an operator is reported with its operands
		m.start, m.end = f.offset(b.Pos()), f.offset(b.End())
		at := f.offset(start) - m.start
		m.text = m.before[:at] + text + m.before[at+int(end-start):]
	}
	f.found = append(f.found, m)
}

// isText reports whether an expression is a constant text, to which + appends.
func isText(e ast.Expr) bool {
	lit, ok := e.(*ast.BasicLit)
	return ok && lit.Kind == token.STRING
}

// leaves reports whether a block ends the function, the loop or the step.
func leaves(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	switch b.List[len(b.List)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	}
	return false
}

// locks reports whether a call locks or unlocks a mutex: tests without the race detector do not notice a missing one.
func locks(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"Lock", "Unlock", "RLock", "RUnlock"}, sel.Sel.Name)
}
