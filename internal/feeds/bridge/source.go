package bridge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/ingest"
)

// Conversion passes a document through its bridge and the one row decoder.
type Conversion struct {
	Format   Format
	Document format.Document
	Options  format.Options

	Skips   Skips          // of the last reading
	Summary format.Summary // likewise
}

// Source yields the rows of the document to package ingest. It may be called again, and then restarts its counts.
func (c *Conversion) Source(ctx context.Context, yield func(row []byte, beside ingest.Beside) error) (again time.Time, err error) {
	c.Skips.Reset()
	o := c.Options
	o.Budget = format.NewBudget(ctx, format.MaxWork)
	c.Summary, err = c.Format.Convert(c.Document, &o, &c.Skips, func(item format.Item) error {
		return yield(item.Row, ingest.Beside{Line: item.Line, EndsAt: item.EndsAt})
	})
	return c.Summary.Again, err
}

// Explain returns a sentence about the fault of a whole document, with its place and a remedy. It returns an empty
// string for an error that does not concern a document.
func Explain(err error, name string) string {
	var bad *format.Error
	if !errors.As(err, &bad) {
		return ""
	}
	text := advice[bad.Fault]
	if text == "" {
		text = "The document can't be read."
	}
	if bad.Fault == format.NotFormat {
		text = fmt.Sprintf(text, name)
	}
	switch {
	case bad.Line > 0:
		return fmt.Sprintf("%s: line %d. %s", bad.Fault, bad.Line, text)
	case bad.Byte > 0:
		return fmt.Sprintf("%s: byte %d. %s", bad.Fault, bad.Byte, text)
	}
	return fmt.Sprintf("%s. %s", bad.Fault, text)
}

// advice maps a fault to its meaning and a remedy.
var advice = map[format.Fault]string{
	format.BadXML:     "The document is not well-formed XML, or breaks off. If it is JSON, a table or a page, look at the feed's format; otherwise fetch it again, or tell its publisher.",
	format.BadJSON:    "The document is not valid JSON (a member that stands twice is not), or breaks off. If it is XML, a table or a page, look at the feed's format; otherwise fetch it again, or tell its publisher.",
	format.BadCSV:     "The document is not a table as the mapping says: look at quotes, delimiter and header.",
	format.HasDTD:     "The document has a document type declaration. Such documents are not read: ask the publisher for one without.",
	format.TooDeep:    "Elements are nested more than 100 deep.",
	format.BadCharset: "The text is not in the encoding that the document declares, or in none of UTF-8, UTF-16, ISO-8859-1, ISO-8859-15 and windows-1252.",
	format.NotFormat:  "The document is well-formed, but nothing that the format %s reads. Look at the format's page in the documentation, and at the feed's format.",
	format.BadStatus:  "The publisher's service answered with an error of its own. Try again later, or look at the credentials.",
	format.BadPages:   "The pages of the document do not end, or lead to another server.",
	format.TooLong:    "The document has more than 256 MiB. Ask the publisher for parts, one feed each.",
	format.TooMany:    "The document has more than 1,000,000 items, or more elements, values and references than are read of one. Ask the publisher for parts, one feed each.",
	format.TooLarge:   "One item, or a text of it, has more than 16 MiB, or more parts or members than an item has.",
	format.TooManyRow: "The document has more than 200,000 rows. Ask the publisher for parts, one feed each.",
}
