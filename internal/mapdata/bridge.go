package mapdata

import "time"

// FormatV1 is the format of feeds that publish v1 rows.
const FormatV1 = "v1"

// ChargerNetworkNone is Bridge.ChargerNetwork of chargers that everybody sees (D4.7).
const ChargerNetworkNone = "none"

// Bridge says how the documents of a pull feed become rows (D17.17). The zero value: they are v1 rows.
type Bridge struct {
	Format         string // name of the format; empty: v1
	Mapping        string // of geojson and csv: JSON; empty: none
	StatusURL      string // of the format's second document (D17.14); empty: none
	TimeZone       string // IANA name, of schedules and of times without an offset; empty: not stated
	ChargerNetwork string // none, or the id of one network; empty: each operator's name (D17.10)
}

// FormatName is the format as the API names it.
func (b *Bridge) FormatName() string {
	if b.Format == "" {
		return FormatV1
	}
	return b.Format
}

// Bridged says whether the feed's documents are in another format than v1 rows.
func (f *Feed) Bridged() bool { return f.Bridge.Format != "" }

// Bounds of what is kept of items that became no row (D17.11).
const (
	MaxSkipWords    = 20
	MaxSkipExamples = 3
)

// Skip is one reason for which items of a feed's last good document became no row (D17.11).
type Skip struct {
	Reason   string // one of format.Reasons
	Items    int
	Words    []SkipWord // the foreign words met, the most frequent first, at most MaxSkipWords
	Examples []string   // ids of items, at most MaxSkipExamples
}

// SkipWord is a foreign word, and how many items it decided on.
type SkipWord struct {
	Word  string
	Items int
}

// SkippedItems is the number of items of all reasons.
func SkippedItems(all []Skip) (items int) {
	for i := range all {
		items += all[i].Items
	}
	return items
}

// MostLost is the reason, in addition to those of rows, that makes a snapshot a shrunken one: more items than half of the rows before
// were skipped for it that were not before (D6.9). What time alone decides is none: closures of the night are gone by day.
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

// Validators are what the answers of the last good poll said of the documents' versions, for conditional requests (D17.12).
type Validators struct {
	Generation int64       // Feed.Generation of that poll: an edit since makes them void
	Documents  []Validator // the document, then the status document if the feed has one
}

// MaxValidator is how many bytes of a header are kept as a validator; longer ones are none.
const MaxValidator = 1024

// Validator is that of one document. Both are as the server sent them; empty: it sent none.
type Validator struct {
	URL          string // SHA-256 of the URL that answered, in hexadecimal
	ETag         string
	LastModified string
}

// MaxRetryAfter bounds how long a server may ask a bridged feed to stay away (D17.12).
const MaxRetryAfter = time.Hour
