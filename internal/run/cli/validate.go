package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"wayside/internal/feeds/bridge"
	"wayside/internal/feeds/format"
	"wayside/internal/feeds/ingest"
	"wayside/internal/run/config"
)

// validateCmd is wayside validate.
type validateCmd struct {
	configFlags
	documentFlags
	JSON   bool   `name:"json" help:"Print JSON: the response of the push endpoint, with the accepted rows by kind."`
	Format string `name:"format" default:"v1" placeholder:"FORMAT" help:"Format of the document: v1 (rows; the default), ${bridgeFormats}."`
	Source string `arg:"" name:"file|url" help:"A file, - for standard input, or a pull URL, which is fetched as a poll would."`
}

// checked is the output of --json.
type checked struct {
	ingest.Report
	Kinds map[string]int `json:"kinds"`
	*skippedItems
}

// skippedItems is the further output for a document of another format (D17.18).
type skippedItems struct {
	Skipped map[string]int            `json:"skipped"`
	Words   map[string]map[string]int `json:"words"`
}

// Run checks rows by the rules of ingestion (D3.13) and stores nothing. It fails if a row would be rejected.
func (c *validateCmd) Run(p *program) (err error) {
	cfg, err := c.load(p, nil)
	if err != nil {
		return err
	}
	result, skips, err := c.result(p, cfg)
	if err != nil {
		return err
	}
	var skipped *skippedItems
	if skips != nil {
		skipped = new(skippedItems)
		skipped.Skipped, skipped.Words = countSkips(skips)
	}
	report, byID := result.Report, make(map[string]int, len(result.Kinds))
	for kind, n := range result.Kinds {
		byID[kind.ID()] = n
	}
	if c.JSON {
		err = p.writeJSON(checked{report, byID, skipped})
	} else if err = c.show(p, report, byID); err == nil && skipped != nil {
		err = showSkips(p, skipped)
	}
	if err == nil && report.Rejected > 0 {
		err = errQuiet
	}
	return err
}

// result checks the rows, and counts the items that a bridge skips; skips is nil for rows of the format v1.
func (c *validateCmd) result(p *program, cfg *config.Config) (_ *ingest.Checked, skips *bridge.Skips, err error) {
	if c.Format != v1 {
		return c.bridged(p, cfg)
	}
	if flag := c.given(); flag != "" {
		return nil, nil, fmt.Errorf("%w--%s is for documents of other formats: name one with --format", errUsage, flag)
	}
	result, err := c.rows(p, cfg)
	return result, nil, err
}

// v1 is the format of the service's own rows.
const v1 = "v1"

// bridged converts a document and checks its rows, as a poll would.
func (c *validateCmd) bridged(p *program, cfg *config.Config) (result *ingest.Checked, skips *bridge.Skips, err error) {
	f, known := bridge.Lookup(c.Format)
	if !known {
		return nil, nil, fmt.Errorf("%wunknown format %q: there are %s, %s", errUsage, c.Format, v1, strings.Join(bridge.Names(), ", "))
	}
	conversion, closeFiles, err := c.conversion(p, cfg, f, c.Source)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, closeFiles()) }()
	if result, err = ingest.CheckSource(p.ctx, conversion.Source, conversion.Options.Now); err != nil {
		return nil, nil, badDocument(c.Source, f, err)
	}
	return result, &conversion.Skips, nil
}

func (c *validateCmd) rows(p *program, cfg *config.Config) (_ *ingest.Checked, err error) {
	if strings.Contains(c.Source, "://") {
		return c.check(p, cfg)
	}
	body := io.NopCloser(os.Stdin)
	if c.Source != "-" {
		if body, err = os.Open(c.Source); err != nil {
			return nil, err
		}
	}
	result, err := ingest.Check(body, p.now())
	if closed := body.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Source, err)
	}
	return result, nil
}

func (c *validateCmd) show(p *program, report ingest.Report, kinds map[string]int) error {
	p.printf("%s accepted, %d rejected\n", countOf(report.Accepted, "row", "rows"), report.Rejected)
	if report.Accepted+report.Rejected > ingest.MaxBatchRows {
		p.printf("(a push carries at most %d rows: divide it, or let it be pulled)\n", ingest.MaxBatchRows)
	}
	rows := [][]string{{"", "KIND", "ROWS"}}
	for _, id := range slices.Sorted(maps.Keys(kinds)) {
		rows = append(rows, []string{"", id, strconv.Itoa(kinds[id])})
	}
	if len(rows) > 1 {
		if err := p.writeTable(rows); err != nil {
			return err
		}
	}
	if err := c.showWarnings(p, report.Warnings); err != nil || report.Rejected == 0 {
		return err
	}
	rows = [][]string{{"ROW", "EXTERNAL ID", "CODE", "WHAT IS WRONG"}}
	for _, e := range report.Errors {
		id := "–"
		if e.ExternalID != nil {
			id = *e.ExternalID
		}
		rows = append(rows, []string{strconv.Itoa(e.Index), id, e.Code, e.Message})
	}
	p.printf("\n")
	if err := p.writeTable(rows); err != nil {
		return err
	}
	if report.ErrorsTruncated {
		p.printf("… and more\n")
	}
	return nil
}

// showWarnings prints the warnings about accepted rows.
func (c *validateCmd) showWarnings(p *program, warnings []ingest.Warning) error {
	if len(warnings) == 0 {
		return nil
	}
	rows := [][]string{{"ROWS", "FIRST ROW", "EXTERNAL ID", "WARNING", "WHAT DOES NOT FIT"}}
	for _, w := range warnings {
		rows = append(rows, []string{strconv.Itoa(w.Rows), strconv.Itoa(w.Index), w.ExternalID, w.Code, w.Message})
	}
	p.printf("\n")
	return p.writeTable(rows)
}

// showSkips prints which items became no rows, and why.
func showSkips(p *program, skipped *skippedItems) error {
	rows := [][]string{{"", "SKIPPED", "ITEMS", "WORDS"}}
	for _, reason := range format.Reasons() {
		if n := skipped.Skipped[string(reason)]; n > 0 {
			rows = append(rows, []string{"", string(reason), strconv.Itoa(n), countedWords(skipped.Words[string(reason)])})
		}
	}
	if len(rows) == 1 {
		return nil
	}
	p.printf("\n")
	return p.writeTable(rows)
}
