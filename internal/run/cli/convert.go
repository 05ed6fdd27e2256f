package cli

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/feeds/bridge"
	"wayside/internal/feeds/format"
	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/geo"
)

// convertCmd is wayside convert.
type convertCmd struct {
	configFlags
	documentFlags
	From   string `name:"from" required:"" placeholder:"FORMAT" help:"Format of the document: ${bridgeFormats}."`
	Out    string `name:"out" placeholder:"FILE" help:"File for the rows (default: standard output)."`
	Report string `name:"report" placeholder:"FILE" help:"File for a report in JSON: rows by kind, and what was skipped, why."`
	Source string `arg:"" name:"file|url" help:"The document: a file, - for standard input, or a URL, which is fetched as a poll would."`
}

// convertReport is the output of --report (D17.18).
type convertReport struct {
	Rows      int                       `json:"rows"`
	Kinds     map[string]int            `json:"kinds"`
	Rejected  int                       `json:"rejected"`
	Skipped   map[string]int            `json:"skipped"`
	Words     map[string]map[string]int `json:"words"`
	Publisher string                    `json:"publisher"`
	Licence   string                    `json:"licence"`
}

// Run converts a document into v1 rows with the code that a poll runs. It prints nothing to standard output if the document as a
// whole is bad.
func (c *convertCmd) Run(p *program) (err error) {
	cfg, err := c.load(p, nil)
	if err != nil {
		return err
	}
	f, err := formatNamed(c.From)
	if err != nil {
		return err
	}
	conversion, closeFiles, err := c.conversion(p, cfg, f, c.Source)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeFiles()) }()
	spool, err := os.CreateTemp("", "wayside-rows-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, spool.Close(), os.Remove(spool.Name())) }()
	report, err := c.spool(p, conversion, spool)
	if err != nil {
		return badDocument(c.Source, f, err)
	}
	if err := c.write(p, spool); err != nil {
		return err
	}
	for _, line := range report.lines() {
		p.say(line)
	}
	if c.Report == "" {
		return nil
	}
	return report.write(c.Report)
}

// formatNamed returns the format with a name, or an error that lists all formats.
func formatNamed(name string) (bridge.Format, error) {
	f, ok := bridge.Lookup(name)
	if !ok {
		return f, fmt.Errorf("%wunknown format %q: there are %s", errUsage, name, strings.Join(bridge.Names(), ", "))
	}
	return f, nil
}

// badDocument returns an error that explains the fault of a whole document, where it is, and what to do.
func badDocument(source string, f bridge.Format, err error) error {
	if fault := bridge.Explain(err, f.Name); fault != "" {
		return fmt.Errorf("%s: %s", source, fault)
	}
	return fmt.Errorf("%s: %w", source, err)
}

// spool writes the accepted rows, as one JSON array with a row a line, and counts.
func (c *convertCmd) spool(p *program, conversion *bridge.Conversion, to io.Writer) (*convertReport, error) {
	report := &convertReport{Kinds: map[string]int{}}
	out := bufio.NewWriterSize(to, 64<<10)
	var line []byte
	_, _, err := ingest.ReadRows(p.ctx, conversion.Source, conversion.Options.Now, func(_ int, row *ingest.Row, rejected *ingest.RowError) error {
		if rejected != nil {
			report.Rejected++
			return nil
		}
		line = append(line[:0], "[,"[min(report.Rows, 1)], '\n')
		line = appendRow(line, row, conversion.Options.Now)
		report.Rows++
		report.Kinds[row.Kind.ID()]++
		_, err := out.Write(line)
		return err
	})
	if err != nil {
		return nil, err
	}
	end := "\n]\n"
	if report.Rows == 0 {
		end = "[]\n"
	}
	if _, err := out.WriteString(end); err != nil {
		return nil, err
	}
	report.Skipped, report.Words = countSkips(&conversion.Skips)
	report.Publisher, report.Licence = conversion.Summary.Publisher, conversion.Summary.Licence
	return report, out.Flush()
}

// countSkips returns the items that became no rows by reason, and their foreign words.
func countSkips(skips *bridge.Skips) (items map[string]int, words map[string]map[string]int) {
	items, words = map[string]int{}, map[string]map[string]int{}
	for _, s := range skips.List() {
		items[string(s.Reason)] = s.Items
		if len(s.Words) > 0 {
			words[string(s.Reason)] = s.Words
		}
	}
	return items, words
}

// write writes the spooled rows, after the whole document was converted without a fault.
func (c *convertCmd) write(p *program, spool *os.File) (err error) {
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if c.Out == "" {
		_, err := io.Copy(p.stdout, spool)
		return err
	}
	file, err := os.Create(c.Out)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, spool)
	return errors.Join(err, file.Close())
}

// lines returns the report for people: one line of rows by kind, one for each reason.
func (r *convertReport) lines() []string {
	rows := countOf(r.Rows, "row", "rows")
	for i, kind := range byCount(r.Kinds) {
		rows += [2]string{": ", ", "}[min(i, 1)] + strconv.Itoa(r.Kinds[kind]) + " " + kind
	}
	if r.Rejected > 0 {
		rows += fmt.Sprintf("; %d rejected (wayside validate says why)", r.Rejected)
	}
	lines := []string{rows}
	for _, reason := range format.Reasons() {
		n := r.Skipped[string(reason)]
		if n == 0 {
			continue
		}
		line := fmt.Sprintf("%d skipped: %s", n, reason)
		if words := countedWords(r.Words[string(reason)]); words != "" {
			line += " (" + words + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

// countOf describes a number of things in words, such as "1 row" and "2 rows".
func countOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// countedWords lists words with their counts.
func countedWords(counts map[string]int) string {
	var words []string
	for _, word := range byCount(counts) {
		words = append(words, fmt.Sprintf("%s %d", word, counts[word]))
	}
	return strings.Join(words, ", ")
}

// byCount returns the keys, the highest count first.
func byCount(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}

// write writes the file of --report.
func (r *convertReport) write(path string) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	err = (&program{stdout: file}).writeJSON(r)
	return errors.Join(err, file.Close())
}

// Bounds of a row with a line (D15.15, D17.18).
const (
	maxRowProperties = 16 << 10 // bytes, as in D3.3
	shortestTTL      = 2        // seconds; 1 retires
)

// appendRow appends an accepted row in v1 form, with its line as a property and its end as a lifetime, because a v1 row has no
// other members for them.
func appendRow(dst []byte, row *ingest.Row, now time.Time) []byte {
	dst, _ = jsontext.AppendQuote(append(dst, `{"external_id":`...), row.ExternalID) // the id is valid UTF-8, because the row was accepted
	dst = append(append(append(dst, `,"kind":"`...), row.Kind.ID()...), `","lat":`...)
	dst = strconv.AppendFloat(dst, row.Point.Lat, 'f', -1, 64)
	dst = strconv.AppendFloat(append(dst, `,"lng":`...), row.Point.Lng, 'f', -1, 64)
	dst = append(dst, `,"properties":`...)
	dst = appendWithLine(dst, row.Properties, row.Line)
	ttl := row.TTL
	if !row.EndsAt.IsZero() {
		left := time.Duration(max(shortestTTL, math.Ceil(row.EndsAt.Sub(now).Seconds()))) * time.Second
		if ttl == 0 || left < ttl {
			ttl = left
		}
	}
	if ttl > 0 {
		dst = strconv.AppendInt(append(dst, `,"ttl_seconds":`...), int64(ttl/time.Second), 10)
	}
	if !row.ObservedAt.IsZero() {
		dst = row.ObservedAt.UTC().AppendFormat(append(dst, `,"observed_at":"`...), time.RFC3339Nano)
		dst = append(dst, '"')
	}
	return append(dst, '}')
}

// appendWithLine appends properties with a line, thinned until all of it fits.
func appendWithLine(dst, properties []byte, line []geo.Point) []byte {
	if len(line) < 2 || len(properties) < 2 {
		return append(dst, properties...)
	}
	for {
		text := append(append([]byte(nil), properties[:len(properties)-1]...), `,"line":`...)
		if len(properties) == len("{}") {
			text = []byte(`{"line":`)
		}
		for i, p := range line {
			text = append(text, "[,"[min(i, 1)], '[')
			text = appendDegrees(append(appendDegrees(text, p.Lng), ','), p.Lat)
			text = append(text, ']')
		}
		text = append(text, "]}"...)
		if len(text) <= maxRowProperties {
			return append(dst, text...)
		}
		if len(line) == 2 {
			return append(dst, properties...)
		}
		half := line[:0:0]
		for i := 0; i < len(line)-1; i += 2 {
			half = append(half, line[i])
		}
		line = append(half, line[len(line)-1])
	}
}

// appendDegrees appends degrees with at most 7 digits behind the point.
func appendDegrees(dst []byte, v float64) []byte {
	return strconv.AppendFloat(dst, math.Round(v*1e7)/1e7, 'f', -1, 64)
}
