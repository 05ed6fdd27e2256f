//go:build ignore

// Gen_tlds writes tlds.txt, the delegated top-level domains, from the ICANN section of the public suffix list in the
// version of golang.org/x/net that go.mod names: a newer list comes with a newer module. It reads the rules from that
// package's test table, because the package exports no list.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// excludedTLDs are in the list but have no public hosts: RFC 7686, RFC 3172.
var excludedTLDs = []string{"arpa", "onion"}

// minTLDs is the number of top-level domains below which the input must be incomplete.
const minTLDs = 1200

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/net").Output()
	if err != nil {
		return fmt.Errorf("find golang.org/x/net: %w", err)
	}
	table := filepath.Join(strings.TrimSpace(string(dir)), "publicsuffix", "table_test.go")
	file, err := parser.ParseFile(token.NewFileSet(), table, nil, 0)
	if err != nil {
		return err
	}
	rules, err := icannRules(file)
	if err != nil {
		return fmt.Errorf("%s: %w", table, err)
	}
	var tlds []string
	for _, rule := range rules {
		tlds = append(tlds, rule[strings.LastIndexByte(rule, '.')+1:])
	}
	slices.Sort(tlds)
	tlds = slices.DeleteFunc(slices.Compact(tlds), func(tld string) bool { return slices.Contains(excludedTLDs, tld) })
	if len(tlds) < minTLDs {
		return fmt.Errorf("only %d top-level domains were found", len(tlds))
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Delegated top-level domains. Written by gen_tlds.go; do not edit.\n%s\n", strings.Join(tlds, "\n"))
	return os.WriteFile("tlds.txt", out.Bytes(), 0o644)
}

// icannRules reads the first numICANNRules of the variable rules.
func icannRules(file *ast.File) ([]string, error) {
	var (
		count int
		rules []string
	)
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range gen.Specs {
			value, ok := spec.(*ast.ValueSpec)
			if !ok || len(value.Values) != 1 {
				continue
			}
			switch v := value.Values[0].(type) {
			case *ast.BasicLit:
				if value.Names[0].Name == "numICANNRules" {
					count, _ = strconv.Atoi(v.Value)
				}
			case *ast.CompositeLit:
				if value.Names[0].Name != "rules" {
					continue
				}
				for _, element := range v.Elts {
					text, err := strconv.Unquote(element.(*ast.BasicLit).Value)
					if err != nil {
						return nil, err
					}
					rules = append(rules, text)
				}
			}
		}
	}
	if count == 0 || count > len(rules) {
		return nil, errors.New("its form has changed: numICANNRules or rules is missing")
	}
	return rules[:count], nil
}
