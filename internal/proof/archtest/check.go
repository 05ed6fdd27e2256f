package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// check is one promise: it returns every place that breaks it.
type check struct {
	name string
	find func(all []source) []string
}

// checks lists the promises that need only the sources.
func checks(kindIDs []string) []check {
	return []check{
		{"no arrow between districts leads up", func(all []source) []string { return checkDistricts(all, districts) }},
		{"imports follow the table", eachFile(checkImports)},
		{"the table permits what is used, and no more", func(all []source) []string { return checkTable(all, rules) }},
		{"every package has a doc comment", checkDocs},
		{"no file and no function is too long", eachFile(checkLengths)},
		{"no init functions", eachFile(checkInit)},
		{"nothing sleeps", eachFile(checkSleep)},
		{"names say what is inside", eachFile(checkNames)},
		{"comments use plain words", eachFile(checkComments)},
		{"wire shapes live in the packages of the wire", eachFile(checkJSONTags)},
		{"one package reads the environment", eachFile(checkEnvironment)},
		{"kinds are listed in one file", eachFile(func(s *source) []string { return checkKinds(s, kindIDs) })},
	}
}

func eachFile(find func(*source) []string) func([]source) []string {
	return func(all []source) []string {
		var found []string
		for i := range all {
			found = append(found, find(&all[i])...)
		}
		return found
	}
}

func checkImports(s *source) []string {
	if s.test {
		return nil
	}
	if strings.HasPrefix(s.dir, "cmd/") {
		return onlyImports(s, []string{"run/cli"})
	}
	if s.pkg() == "" {
		return nil
	}
	r, listed := rules[entryFor(rules, s.pkg())]
	if !listed {
		return []string{s.path + ": package " + s.pkg() + " is not in archtest's table (internal/proof/archtest/table.go): add it with what it may import"}
	}
	var found []string
	for _, imported := range s.imports() {
		for _, never := range r.never {
			if imported == never || strings.HasPrefix(imported, never+"/") && never != "os" && never != "net/http" {
				found = append(found, fmt.Sprintf("%s: %s must never import %s", s.path, s.pkg(), imported))
			}
		}
	}
	if slices.Contains(r.ours, anything) {
		return found
	}
	return append(found, onlyImports(s, r.ours)...)
}

// entryFor returns the name under which the table lists a package: its own, or that of its directory with a star for
// all packages in it, such as feeds/format/*.
func entryFor(table map[string]rule, pkg string) string {
	if _, ok := table[pkg]; ok {
		return pkg
	}
	return path.Join(path.Dir(pkg), anything)
}

// checkTable finds entries without a package, and permissions that no package of their entry uses: both would admit
// imports that nobody decided on.
func checkTable(all []source, table map[string]rule) []string {
	exists := make(map[string]bool)
	used := make(map[[2]string]bool) // entry, imported
	for i := range all {
		s := &all[i]
		if s.test || s.pkg() == "" {
			continue
		}
		entry := entryFor(table, s.pkg())
		exists[entry] = true
		for _, imported := range s.imports() {
			used[[2]string{entry, strings.TrimPrefix(imported, modulePath+"/internal/")}] = true
		}
	}
	var found []string
	for entry, r := range table {
		if !exists[entry] {
			found = append(found, fmt.Sprintf("internal/proof/archtest/table.go: there is no package internal/%s: remove its entry", entry))
			continue
		}
		for _, ours := range r.ours {
			if ours != anything && !used[[2]string{entry, ours}] {
				found = append(found, fmt.Sprintf("internal/proof/archtest/table.go: %s does not import %s: remove %q from its entry", entry, ours, ours))
			}
		}
	}
	slices.Sort(found)
	return found
}

func onlyImports(s *source, allowed []string) []string {
	var found []string
	for _, imported := range s.imports() {
		ours, ok := strings.CutPrefix(imported, modulePath+"/internal/")
		if ok && !slices.Contains(allowed, ours) {
			found = append(found, fmt.Sprintf("%s: may not import %s (allowed: %s)", s.path, ours, strings.Join(allowed, ", ")))
		}
	}
	return found
}

func checkDocs(all []source) []string {
	documented := make(map[string]bool)
	for i := range all {
		if s := &all[i]; !s.test {
			documented[s.dir] = documented[s.dir] || s.file.Doc != nil
		}
	}
	var found []string
	for dir, ok := range documented {
		if !ok {
			found = append(found, dir+": no package comment")
		}
	}
	slices.Sort(found)
	return found
}

// checkLengths exempts generated files, and functions of tests, which may contain tables.
func checkLengths(s *source) []string {
	if ast.IsGenerated(s.file) {
		return nil
	}
	var found []string
	if s.lines > longestFile {
		found = append(found, fmt.Sprintf("%s: %d lines, more than %d", s.path, s.lines, longestFile))
	}
	if s.test {
		return found
	}
	for _, decl := range s.file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if n := s.set.Position(f.End()).Line - s.set.Position(f.Pos()).Line + 1; n > longestFunction {
			found = append(found, s.at(f, "%s has %d lines, more than %d", f.Name.Name, n, longestFunction))
		}
	}
	return found
}

func checkInit(s *source) []string {
	var found []string
	for _, decl := range s.file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			found = append(found, s.at(f, "init hides work from the reader and the caller"))
		}
	}
	return found
}

// checkSleep concerns tests, which must not guess how long something takes, and jobs, which could not be stopped while
// they sleep. In a bubble of testing/synctest, sleeping is how time passes.
func checkSleep(s *source) []string {
	if !s.test && !s.ships() || s.test && slices.Contains(s.imports(), "testing/synctest") {
		return nil
	}
	var found []string
	for _, n := range s.uses("time", "Sleep") {
		found = append(found, s.at(n, "time.Sleep: wait for what is meant, or use testing/synctest"))
	}
	return found
}

func checkNames(s *source) []string {
	name := strings.TrimSuffix(strings.TrimSuffix(path.Base(s.path), ".go"), "_test")
	if slices.Contains(vague, name) || slices.Contains(vague, s.file.Name.Name) {
		return []string{s.path + ": this name says nothing of what is inside"}
	}
	return nil
}

func checkComments(s *source) []string {
	var found []string
	for _, group := range s.file.Comments {
		if riddle := riddles.FindString(group.Text()); riddle != "" {
			found = append(found, s.at(group, "%q: name the subject, and what it does", strings.Join(strings.Fields(riddle), " ")))
		}
	}
	return found
}

func checkJSONTags(s *source) []string {
	if s.test || s.pkg() == "" || slices.Contains(wireShapes, s.pkg()) {
		return nil
	}
	var found []string
	ast.Inspect(s.file, func(n ast.Node) bool {
		if f, ok := n.(*ast.Field); ok && f.Tag != nil && strings.Contains(f.Tag.Value, `json:"`) {
			found = append(found, s.at(f, "a JSON tag outside %s", strings.Join(wireShapes, ", ")))
		}
		return true
	})
	return found
}

func checkEnvironment(s *source) []string {
	if s.test || slices.Contains(suites, s.pkg()) || s.pkg() == environment {
		return nil
	}
	var found []string
	for _, name := range []string{"Getenv", "LookupEnv", "Environ", "ExpandEnv"} {
		for _, n := range s.uses("os", name) {
			found = append(found, s.at(n, "os.%s outside %s", name, environment))
		}
	}
	return found
}

func checkKinds(s *source, ids []string) []string {
	if s.test || !s.ships() || s.path == kindsFile || slices.Contains(mappings, s.path) || slices.Contains(clients, s.pkg()) {
		return nil
	}
	var found []string
	ast.Inspect(s.file, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		if text, err := strconv.Unquote(lit.Value); err == nil && slices.Contains(ids, text) {
			found = append(found, s.at(lit, "kind %s outside %s (D2.2)", text, kindsFile))
		}
		return true
	})
	return found
}

// roomRow matches the beginning of a row of docs/packages.md's table.
var roomRow = regexp.MustCompile("(?m)^\\| `([^`]+)`")

// checkRows compares the table of docs/packages.md with those that exist. A row for a directory with a star, such as
// internal/feeds/format/*, stands for the packages in it that have no row of their own. A row may also name a directory without Go, as
// long as it is not below internal/ or cmd/.
func checkRows(all []source, text string) []string {
	rows := make(map[string]bool)
	for _, m := range roomRow.FindAllStringSubmatch(text, -1) {
		rows[m[1]] = true
	}
	exists := make(map[string]bool)
	for i := range all {
		if !all[i].test {
			exists[all[i].dir] = true
		}
	}
	var found []string
	families := make(map[string]bool) // rows with a star that a package needs
	for dir := range exists {
		switch family := path.Join(path.Dir(dir), anything); {
		case rows[dir]:
		case rows[family]:
			families[family] = true
		default:
			found = append(found, "docs/packages.md has no row for `"+dir+"`")
		}
	}
	for dir := range rows {
		if !exists[dir] && !families[dir] && (strings.HasPrefix(dir, "internal/") || strings.HasPrefix(dir, "cmd/")) {
			found = append(found, "docs/packages.md has a row for `"+dir+"`, which does not exist")
		}
	}
	slices.Sort(found)
	return found
}
