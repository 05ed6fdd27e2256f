package httpapi_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wayside/internal/http/apidocs"
	"wayside/internal/http/httpapi"
	"wayside/internal/http/httpapi/public"
)

// parseWhole parses the document with the part about apps.
func parseWhole(t *testing.T) *apidocs.Document {
	t.Helper()
	text, err := httpapi.DescribeAPI(true)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := apidocs.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestEveryRouteIsInOpenAPI compares the table of routes with openapi.json, in both directions.
func TestEveryRouteIsInOpenAPI(t *testing.T) {
	doc := parseWhole(t)
	written := map[string]bool{}
	for _, path := range doc.Paths {
		for _, op := range path.Value {
			written[strings.ToUpper(op.Name)+" "+path.Name] = true
		}
	}
	for _, r := range public.Table() {
		if r.Class == httpapi.ClassPage {
			continue // pages are not part of the API; docs/roles.md lists them
		}
		name := r.Method + " " + strings.TrimSuffix(r.Path, "{$}")
		if !written[name] {
			t.Errorf("openapi.json has no %s", name)
		}
		delete(written, name)
	}
	for name := range written {
		t.Errorf("openapi.json has %s, the table of routes has not", name)
	}
}

// TestOpenAPISecurityMatchesClasses compares the security of each operation with its route's class.
func TestOpenAPISecurityMatchesClasses(t *testing.T) {
	doc := parseWhole(t)
	for _, r := range public.Table() {
		path := doc.Paths.Get(strings.TrimSuffix(r.Path, "{$}"))
		if path == nil {
			continue // TestEveryRouteIsInOpenAPI reports it
		}
		op := path.Get(strings.ToLower(r.Method))
		if op == nil {
			continue
		}
		statuses := []string{}
		for _, answer := range op.Responses {
			statuses = append(statuses, answer.Name)
		}
		want, security := []string{}, ""
		switch r.Class {
		case httpapi.ClassRead, httpapi.ClassPageRead, httpapi.ClassRoute:
			want, security = []string{"401", "429"}, "Needs no account; takes an API token or a signed-in session."
		case httpapi.ClassAccount:
			want, security = []string{"401", "403", "429"}, "Needs a signed-in session."
		case httpapi.ClassVote:
			want, security = []string{"401", "403", "404", "429", "503"}, "Needs a signed-in session."
		case httpapi.ClassPush:
			want, security = []string{"400", "401", "413", "415", "429", "503"}, "Needs no account."
		case httpapi.ClassSignIn:
			want = []string{"403"}
		case httpapi.ClassOpen:
			security = "Needs no account."
		}
		if got := apidocs.Access(op.Security); security != "" && got != security {
			t.Errorf("%s %s: %q, want %q", r.Method, r.Path, got, security)
		}
		for _, status := range want {
			if !slices.Contains(statuses, status) {
				t.Errorf("%s %s does not say %s", r.Method, r.Path, status)
			}
		}
	}
}

// TestEveryProblemIsInOpenAPI compares the types of problems in the source with openapi.json, in both directions.
func TestEveryProblemIsInOpenAPI(t *testing.T) {
	doc := parseWhole(t)
	made := httpapi.ProblemStatuses()
	for name, status := range problemsInSource(t) {
		made[name] = status
	}
	for _, p := range doc.Problems {
		status, ok := made[p.Type]
		if !ok {
			t.Errorf("openapi.json explains %s, which the source does not contain", p.Type)
		} else if status != 0 && status != p.Status {
			t.Errorf("%s is %d, openapi.json says %d", p.Type, status, p.Status)
		}
		if p.When == "" || p.Then == "" {
			t.Errorf("%s is not explained", p.Type)
		}
		delete(made, p.Type)
	}
	for name := range made {
		t.Errorf("openapi.json does not explain %s", name)
	}
}

// problemsInSource finds the types in composite literals of problem, with the status if it is a constant of net/http,
// otherwise 0.
func problemsInSource(t *testing.T) map[string]int {
	t.Helper()
	byName := map[string]int{
		"StatusBadRequest": 400, "StatusUnauthorized": 401, "StatusForbidden": 403, "StatusNotFound": 404,
		"StatusMethodNotAllowed": 405, "StatusConflict": 409, "StatusGone": 410, "StatusRequestEntityTooLarge": 413,
		"StatusUnsupportedMediaType": 415, "StatusUnprocessableEntity": 422, "StatusTooManyRequests": 429,
		"StatusInternalServerError": 500, "StatusServiceUnavailable": 503,
	}
	names, err := fs.Glob(os.DirFS("."), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	leaves, err := fs.Glob(os.DirFS("."), "*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	names = append(names, leaves...)
	found := map[string]int{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if kind, named := litType(lit); !ok || !named || kind != "Problem" {
				return true
			}
			typ, status := "", 0
			for _, element := range lit.Elts {
				field, ok := element.(*ast.KeyValueExpr)
				if !ok {
					continue
				}
				key, _ := field.Key.(*ast.Ident)
				if value, ok := field.Value.(*ast.BasicLit); ok && key.Name == "Type" {
					typ, _ = strconv.Unquote(value.Value)
				}
				if value, ok := field.Value.(*ast.SelectorExpr); ok && key.Name == "Status" {
					status = byName[value.Sel.Name]
				}
			}
			if typ != "" {
				found[typ] = status
			}
			return true
		})
	}
	if len(found) == 0 {
		t.Fatal("no problem was found in the source")
	}
	return found
}

func litType(lit *ast.CompositeLit) (string, bool) {
	if lit == nil {
		return "", false
	}
	switch name := lit.Type.(type) {
	case *ast.Ident:
		return name.Name, true
	case *ast.SelectorExpr:
		return name.Sel.Name, true
	}
	return "", false
}
