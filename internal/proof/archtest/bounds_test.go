package archtest

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

const boundsFile = "docs/bounds.md"

var (
	boundRow   = regexp.MustCompile("(?m)^\\| ([^|]+) \\| ([^|]+) \\| ([^|]+) \\| `([^`|]+)` \\| ([^|]+) \\|$")
	noBound    = regexp.MustCompile("`([a-z0-9/]+\\.[A-Za-z0-9]+)`")
	boundName  = regexp.MustCompile(`^[mM]ax[A-Z0-9]`)
	boundTests = regexp.MustCompile("^`(?:[a-z0-9/]+\\.)?Test[A-Za-z0-9_]+`(?:, `(?:[a-z0-9/]+\\.)?Test[A-Za-z0-9_]+`)*$")
)

// noBoundHeading begins the part of the document that lists constants which bound no stranger.
const noBoundHeading = "## Constants that bound no stranger"

// untested stands for the test of a bound that has none, and noTest is one with the reason why it has none.
const untested = "none yet"

var noTest = regexp.MustCompile(`^none: \S.*$`)

// TestBounds holds docs/bounds.md to the code: each value is that of its constant, each test exists, and no constant whose name begins
// like that of a bound is missing.
func TestBounds(t *testing.T) {
	all, err := readModule(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	for _, finding := range checkBounds(all, read(t, boundsFile)) {
		t.Error(finding)
	}
}

// TestCheckBounds holds that every promise of the document can be broken.
func TestCheckBounds(t *testing.T) {
	all, err := readModule(fstest.MapFS{
		"internal/x/a/a.go":           {Data: []byte("package a\n\nimport \"time\"\n\nconst (\n\tmaxRows = 5000\n\tMaxText = 2*maxBytes + 1<<10\n\tmaxBytes = int64(4 << 10)\n\tpatience = 90 * time.Second\n)\n\nconst maxElsewhere = b.MaxParts\n")},
		"internal/x/a/a_test.go":      {Data: []byte("package a\n\nfunc TestRows() {}\n")},
		"internal/x/c/b/b.go":         {Data: []byte("package b\n\nconst MaxParts, idle = 7, 1\n\nfunc f() { const maxLocal = 1 }\n")},
		"internal/x/c/b/part_test.go": {Data: []byte("package b\n\nfunc TestParts() {}\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	const whole = "| what | for whom | how much | constant | test |\n| --- | --- | --- | --- | --- |\n" +
		"| rows | request | 5 000 | `a.maxRows` | `TestRows`, `c/b.TestParts` |\n" +
		"| bytes | request | 9 KiB | `a.MaxText` | none yet |\n" +
		"| bytes | request | 4096 bytes | `a.maxBytes` | `TestRows` |\n" +
		"| time | request | 90 s | `a.patience` | `TestRows` |\n" +
		"| parts | request | 7 | `c/b.MaxParts` | `TestParts` |\n\n" +
		noBoundHeading + "\n\nSame as another: `a.maxElsewhere`.\n"
	tests := []struct{ name, old, new, want string }{
		{"all rows", "", "", ""},
		{"another value", "5 000", "50 000", "a.maxRows is 5000"},
		{"another value of bytes", "9 KiB", "90 KiB", "a.MaxText is 9216"},
		{"another time", "90 s", "15 min", "a.patience is 90000000000"},
		{"no value", "90 s", "long", `"long" is no number`},
		{"no such constant", "`c/b.MaxParts`", "`c/b.idl`", "there is no constant c/b.idl"},
		{"no such test", "`TestParts` |", "`TestPart` |", "there is no test c/b.TestPart"},
		{"no such test elsewhere", "`c/b.TestParts`", "`a.TestParts`", "there is no test a.TestParts"},
		{"no test", "none yet", "none", `"none" names no test`},
		{"a reason", "none yet", "none: a second of processor time", ""},
		{"no reason", "none yet", "none: ", `"none:" names no test`},
		{"a constant that is not listed", "Same as another: `a.maxElsewhere`.", "", "a.maxElsewhere looks like a bound"},
		{"a constant in both lists", "Same as", "`a.maxRows`, same as", "a.maxRows is listed twice"},
		{"no such constant that bounds nobody", "Same as", "`a.maxGone`, same as", "there is no constant a.maxGone"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(whole, tt.old, tt.new, 1)
			found := checkBounds(all, text)
			if tt.name == "no such constant" { // its own is missing then, too
				found = slices.DeleteFunc(found, func(f string) bool { return strings.Contains(f, "looks like") })
			}
			wantFinding(t, found, tt.want)
		})
	}
}

// checkBounds compares the document with the constants and the tests of the module.
func checkBounds(all []source, text string) (found []string) {
	constants, tests := boundsIn(all)
	table, rest, _ := strings.Cut(text, noBoundHeading)
	listed := make(map[string]bool)
	list := func(name string) bool {
		if listed[name] {
			found = append(found, name+" is listed twice")
		}
		listed[name] = true
		_, ok := constants.exprs[name]
		if !ok {
			found = append(found, "there is no constant "+name)
		}
		return ok
	}
	for _, row := range boundRow.FindAllStringSubmatch(table, -1) {
		much, name, by := strings.TrimSpace(row[3]), row[4], strings.TrimSpace(row[5])
		if !list(name) {
			continue
		}
		value, err := constants.value(name, 0)
		if err != nil {
			found = append(found, fmt.Sprintf("%s: %v", name, err))
		} else if written, err := parseBound(much); err != nil {
			found = append(found, fmt.Sprintf("%s: %v", name, err))
		} else if !constant.Compare(value, token.EQL, written) {
			found = append(found, fmt.Sprintf("%s is %s, not %s", name, value.ExactString(), much))
		}
		switch {
		case by == untested, noTest.MatchString(by):
		case !boundTests.MatchString(by):
			found = append(found, fmt.Sprintf("%s: %q names no test", name, by))
		default:
			for test := range strings.SplitSeq(by, ", ") {
				test = strings.Trim(test, "`")
				if !strings.Contains(test, ".") {
					test = name[:strings.LastIndexByte(name, '.')+1] + test
				}
				if !tests[test] {
					found = append(found, "there is no test "+test)
				}
			}
		}
	}
	for _, name := range noBound.FindAllStringSubmatch(rest, -1) {
		list(name[1])
	}
	for name := range constants.exprs {
		if boundName.MatchString(name[strings.LastIndexByte(name, '.')+1:]) && !listed[name] {
			found = append(found, fmt.Sprintf("%s looks like a bound: %s must list it", name, boundsFile))
		}
	}
	slices.Sort(found)
	return found
}

// constants are the constants of all packages in internal, by names without the district, such as nav/session.MaxSessions.
type constants struct {
	exprs map[string]ast.Expr
	dirs  map[string]string // of packages, by the last element of their paths, unless several end alike
}

// boundsIn returns the constants and the tests in internal.
func boundsIn(all []source) (constants, map[string]bool) {
	c, tests := constants{exprs: map[string]ast.Expr{}, dirs: map[string]string{}}, map[string]bool{}
	for _, s := range all {
		dir, ok := strings.CutPrefix(s.dir, "internal/")
		if !ok {
			continue
		}
		if _, below, ok := strings.Cut(dir, "/"); ok {
			dir = below
		}
		if last := path.Base(dir); c.dirs[last] == "" || c.dirs[last] == dir {
			c.dirs[last] = dir
		}
		for _, decl := range s.file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if s.test && d.Recv == nil {
					tests[dir+"."+d.Name.Name] = true
				}
			case *ast.GenDecl:
				if d.Tok != token.CONST || s.test {
					continue
				}
				for _, spec := range d.Specs {
					values, _ := spec.(*ast.ValueSpec)
					for i, name := range values.Names {
						if i < len(values.Values) {
							c.exprs[dir+"."+name.Name] = values.Values[i]
						}
					}
				}
			}
		}
	}
	return c, tests
}

// value evaluates a constant.
func (c constants) value(name string, depth int) (constant.Value, error) {
	expr, ok := c.exprs[name]
	if !ok || depth > 20 {
		return nil, fmt.Errorf("there is no constant %s", name)
	}
	return c.eval(expr, name[:strings.LastIndexByte(name, '.')], depth)
}

// eval evaluates an expression in a package of internal.
func (c constants) eval(expr ast.Expr, dir string, depth int) (constant.Value, error) {
	switch e := expr.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(e.Value, e.Kind, 0), nil
	case *ast.ParenExpr:
		return c.eval(e.X, dir, depth)
	case *ast.Ident:
		return c.value(dir+"."+e.Name, depth+1)
	case *ast.CallExpr: // a conversion
		if len(e.Args) == 1 {
			return c.eval(e.Args[0], dir, depth)
		}
	case *ast.SelectorExpr:
		pkg, _ := e.X.(*ast.Ident)
		if pkg == nil {
			break
		}
		unit := map[string]time.Duration{"Nanosecond": 1, "Microsecond": time.Microsecond, "Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute, "Hour": time.Hour}
		if pkg.Name == "time" {
			return constant.MakeInt64(int64(unit[e.Sel.Name])), nil
		}
		return c.value(c.dirs[pkg.Name]+"."+e.Sel.Name, depth+1)
	case *ast.BinaryExpr:
		x, err := c.eval(e.X, dir, depth)
		if err != nil {
			return nil, err
		}
		y, err := c.eval(e.Y, dir, depth)
		if err != nil {
			return nil, err
		}
		switch bits, exact := constant.Uint64Val(constant.ToInt(y)); {
		case e.Op != token.SHL && e.Op != token.SHR:
			return constant.BinaryOp(x, e.Op, y), nil
		case exact:
			return constant.Shift(x, e.Op, uint(bits)), nil
		}
	}
	return nil, fmt.Errorf("this test cannot evaluate a %T", expr)
}

// parseBound parses how much a row allows: a number, with spaces between its digits, and a unit of bytes or time.
func parseBound(text string) (constant.Value, error) {
	units := map[string]int64{
		"": 1, "bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
		"ms": int64(time.Millisecond), "s": int64(time.Second), "min": int64(time.Minute), "h": int64(time.Hour), "days": int64(24 * time.Hour),
	}
	digits, unit := text, ""
	if i := strings.LastIndexByte(text, ' '); i >= 0 && strings.Trim(text[i+1:], "0123456789") != "" {
		digits, unit = text[:i], text[i+1:]
	}
	number, err := strconv.ParseFloat(strings.ReplaceAll(digits, " ", ""), 64)
	factor, known := units[unit]
	if err != nil || !known {
		return nil, fmt.Errorf("%q is no number with a unit that this test knows", text)
	}
	return constant.BinaryOp(constant.MakeFloat64(number), token.MUL, constant.MakeInt64(factor)), nil
}
