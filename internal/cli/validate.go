package cli

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"wayside/internal/config"
	"wayside/internal/ingest"
)

// validateCmd is wayside validate.
type validateCmd struct {
	configFlags
	JSON   bool   `name:"json" help:"Print JSON: the response of the push endpoint, with the accepted rows by kind."`
	Header string `name:"header" placeholder:"NAME: VALUE" help:"Auth header to send with the request to a URL."`
	Source string `arg:"" name:"file|url" help:"A file, - for standard input, or a pull URL, which is fetched as a poll would."`
}

// checked is the output of --json.
type checked struct {
	ingest.Report
	Kinds map[string]int `json:"kinds"`
}

// Run checks rows by the rules of ingestion (D3.13) and stores nothing. It fails if a row would be rejected.
func (c *validateCmd) Run(p *program) (err error) {
	cfg, err := c.load(p, nil)
	if err != nil {
		return err
	}
	result, err := c.result(p, cfg)
	if err != nil {
		return err
	}
	report, byID := result.Report, make(map[string]int, len(result.Kinds))
	for kind, n := range result.Kinds {
		byID[kind.ID()] = n
	}
	if c.JSON {
		err = p.writeJSON(checked{report, byID})
	} else {
		err = c.show(p, report, byID)
	}
	if err == nil && report.Rejected > 0 {
		err = errQuiet
	}
	return err
}

func (c *validateCmd) result(p *program, cfg *config.Config) (_ *ingest.Checked, err error) {
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
	p.printf("%d rows accepted, %d rejected\n", report.Accepted, report.Rejected)
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

// showWarnings prints what of accepted rows readers will not show.
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
