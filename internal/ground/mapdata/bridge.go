package mapdata

import "time"

// FormatV1 is the format of feeds that publish v1 rows.
const FormatV1 = "v1"

// ChargerNetworkNone is the Bridge.ChargerNetwork of chargers that every driver sees (D4.7).
const ChargerNetworkNone = "none"

// Bridge describes how the documents of a pull feed become rows (D17.17). The zero value means that they are v1 rows.
type Bridge struct {
	Format         string // name of the format; empty: v1
	Mapping        string // of geojson and csv: JSON; empty: none
	StatusURL      string // of the format's second document (D17.14); empty: none
	TimeZone       string // IANA name, of schedules and of times without an offset; empty: not stated
	ChargerNetwork string // none, or the id of one network; empty: each operator's name (D17.10)
}

// FormatName returns the name of the format in the API.
func (b *Bridge) FormatName() string {
	if b.Format == "" {
		return FormatV1
	}
	return b.Format
}

// Bridged reports whether the feed's documents are in another format than v1 rows.
func (f *Feed) Bridged() bool { return f.Bridge.Format != "" }

// Bounds of the details that are kept of items that became no row (D17.11).
const (
	MaxSkipWords    = 20
	MaxSkipExamples = 3
)

// Skip is one reason for which items of a feed's last good document became no row (D17.11).
type Skip struct {
	Reason   string // one of format.Reasons
	Items    int
	Words    []SkipWord // the foreign words, the most frequent first, at most MaxSkipWords
	Examples []string   // ids of items, at most MaxSkipExamples
}

// SkipWord is a foreign word, and the number of items that it decided on.
type SkipWord struct {
	Word  string
	Items int
}

// SkippedItems returns the number of items of all reasons.
func SkippedItems(all []Skip) (items int) {
	for i := range all {
		items += all[i].Items
	}
	return items
}

// MostLost returns a reason to treat a snapshot as a shrunken one, in addition to the reasons of rows: it reports
// whether the number of items skipped for one reason has grown by more than half of the previous number of rows (D6.9).
// It ignores reasons that depend on time alone, because closures of the night are gone by day.
func MostLost(before, now []Skip, rowsBefore int) (reason string, lost bool) {
	for i := range now {
		was := 0
		for j := range before {
			if before[j].Reason == now[i].Reason {
				was = before[j].Items
			}
		}
		if rowsBefore > 0 && !timely(now[i].Reason) && 2*(now[i].Items-was) > rowsBefore {
			return now[i].Reason, true
		}
	}
	return "", false
}

func timely(reason string) bool {
	switch reason {
	case "not_yet", "ended", "not_active":
		return true
	}
	return false
}

// Validators are the document versions that the answers of the last good poll stated, for conditional requests
// (D17.12).
type Validators struct {
	Generation int64       // Feed.Generation of that poll: a later edit invalidates them
	Documents  []Validator // the document, then the status document if the feed has one
}

// MaxValidator is the largest size of a header that is kept as a validator, in bytes; longer ones are ignored.
const MaxValidator = 1024

// Validator is the validator of one document. Both headers are as the server sent them; empty: it sent none.
type Validator struct {
	URL          string // SHA-256 of the URL that answered, in hexadecimal
	ETag         string
	LastModified string
}

// MaxRetryAfter is the longest pause that a server may request from a bridged feed (D17.12).
const MaxRetryAfter = time.Hour
