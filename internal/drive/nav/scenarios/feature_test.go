package scenarios

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// scenario is one scenario of a feature, with the steps of the feature's background before its own.
type scenario struct {
	File  string // relative to the checkout
	Line  int
	Name  string
	Tags  []string
	Steps []stepRead
}

// stepRead is a sentence and the text or table below it.
type stepRead struct {
	Text  string
	Doc   string
	Table [][]string
	Line  int
	Lines []int // of the rows of the table
}

// readFolder reads all features in a folder, in the order of their names.
func readFolder(checkout, folder string) ([]scenario, error) {
	names, err := filepath.Glob(filepath.Join(checkout, "features", folder, "*.feature"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no features in features/%s", checkout, folder)
	}
	slices.Sort(names)
	var all []scenario
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		scenarios, err := parseFeature(folder+"/"+filepath.Base(name), string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, scenarios...)
	}
	return all, nil
}

// featureParser reads a file of Gherkin: a feature, its background, and scenarios without examples.
type featureParser struct {
	file       string
	lines      []string
	at         int
	tags       []string
	common     []string // tags of the feature
	background []stepRead
	scenarios  []scenario
	current    *[]stepRead
}

func parseFeature(file, text string) ([]scenario, error) {
	p := &featureParser{file: file, lines: strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")}
	for p.at < len(p.lines) {
		line := strings.TrimSpace(p.lines[p.at])
		p.at++
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, p.at, err)
		}
	}
	for i := range p.scenarios {
		s := &p.scenarios[i]
		s.Steps = slices.Concat(p.background, s.Steps)
	}
	return p.scenarios, nil
}

var stepWords = []string{"Given ", "When ", "Then ", "And ", "But "}

func (p *featureParser) line(line string) error {
	switch {
	case line == "" || line[0] == '#':
	case line[0] == '@':
		p.tags = append(p.tags, strings.Fields(line)...)
	case strings.HasPrefix(line, "Feature:"):
		p.common, p.tags = p.tags, nil
	case strings.HasPrefix(line, "Background:") && len(p.scenarios) == 0: // below a scenario the line is only its description
		p.current = &p.background
	case strings.HasPrefix(line, "Scenario:"):
		tags := slices.Concat(p.common, p.tags)
		p.scenarios = append(p.scenarios, scenario{File: p.file, Line: p.at, Name: strings.TrimSpace(line[len("Scenario:"):]), Tags: tags})
		p.current, p.tags = &p.scenarios[len(p.scenarios)-1].Steps, nil
	case strings.HasPrefix(line, "Scenario Outline:"), strings.HasPrefix(line, "Examples:"):
		return fmt.Errorf("%q is not read", line)
	case strings.HasPrefix(line, `"""`):
		return p.doc()
	case line[0] == '|':
		return p.row(line)
	default:
		p.step(line)
	}
	return nil
}

// step begins a step. Other lines are the description of the feature or of a scenario.
func (p *featureParser) step(line string) {
	for _, word := range stepWords {
		if text, ok := strings.CutPrefix(line, word); ok && p.current != nil {
			*p.current = append(*p.current, stepRead{Text: strings.TrimSpace(text), Line: p.at})
		}
	}
}

func (p *featureParser) last() (*stepRead, error) {
	if p.current == nil || len(*p.current) == 0 {
		return nil, fmt.Errorf("nothing stands before this line that it could belong to")
	}
	return &(*p.current)[len(*p.current)-1], nil
}

// doc reads a text between three quotes, without the common indentation of its lines.
func (p *featureParser) doc() error {
	step, err := p.last()
	if err != nil {
		return err
	}
	opening := p.lines[p.at-1]
	indent := len(opening) - len(strings.TrimLeft(opening, " \t"))
	var text []string
	for ; p.at < len(p.lines); p.at++ {
		line := p.lines[p.at]
		if strings.HasPrefix(strings.TrimSpace(line), `"""`) {
			p.at++
			step.Doc = strings.Join(text, "\n")
			return nil
		}
		spaces := len(line) - len(strings.TrimLeft(line, " \t"))
		text = append(text, line[min(indent, spaces):])
	}
	return fmt.Errorf("a text without an end")
}

// row reads a line of a table.
func (p *featureParser) row(line string) error {
	step, err := p.last()
	if err != nil {
		return err
	}
	var cells []string
	var cell strings.Builder
	escaped := false
	for _, c := range line[1:] {
		switch {
		case escaped:
			if c == 'n' {
				c = '\n'
			}
			cell.WriteRune(c)
			escaped = false
		case c == '\\':
			escaped = true
		case c == '|':
			cells = append(cells, strings.TrimSpace(cell.String()))
			cell.Reset()
		default:
			cell.WriteRune(c)
		}
	}
	step.Table, step.Lines = append(step.Table, cells), append(step.Lines, p.at)
	return nil
}

// hashes returns the rows of a table by the names of their columns.
func hashes(table [][]string) []map[string]string {
	var rows []map[string]string
	for _, cells := range table[1:] {
		row := make(map[string]string, len(cells))
		for i, name := range table[0] {
			if i < len(cells) {
				row[name] = cells[i]
			}
		}
		rows = append(rows, row)
	}
	return rows
}
