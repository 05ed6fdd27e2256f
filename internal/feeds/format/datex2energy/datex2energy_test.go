package datex2energy_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/datex2energy"
)

func opener(text string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
}

// convert converts a table, and the document of statuses if it is not empty.
func convert(table, status string) (items []format.Item, err error) {
	d := format.Document{Open: opener(table)}
	if status != "" {
		d.Status = opener(status)
	}
	o := format.Options{Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	_, err = datex2energy.Convert(d, &o, func(item format.Item) error {
		item.Row = append([]byte(nil), item.Row...)
		items = append(items, item)
		return nil
	})
	return items, err
}

func table(point string) string {
	return `{"aegiEnergyInfrastructureTablePublication":{"energyInfrastructureTable":{"energyInfrastructureSite":{"id":"site","locationReference":{"latitude":52,"longitude":5},
		"energyInfrastructureStation":{"refillPoint":{"aegiElectricChargingPoint":` + point + `}}}}}}`
}

func statusOf(id, word string) string {
	return `{"egiEnergyInfrastructureStatusPublication":{"refillPointStatus":[{"reference":{"idG":"` + id + `"},"status":"` + word + `"}]}}`
}

func one(t *testing.T, text, status string) format.Item {
	t.Helper()
	items, err := convert(text, status)
	if err != nil || len(items) != 1 {
		t.Fatalf("%v %v", items, err)
	}
	return items[0]
}

// TestPlugs checks the table of plugs one by one, and that plugs of direct current make a site of unknown power a fast
// charger.
func TestPlugs(t *testing.T) {
	words := format.Vocabulary().Plugs.DATEX2
	if len(words) == 0 {
		t.Fatal("no words")
	}
	for word, plug := range words {
		got := string(one(t, table(`{"idG":"p","connector":[{"connectorType":{"value":"`+word+`"}}]}`), "").Row)
		kind := "charger.destination"
		if plug == "ccs" || plug == "ccs1" || plug == "chademo" || plug == "mcs" {
			kind = "charger.supercharger"
		}
		if !strings.Contains(got, `"plugs":["`+plug+`"]`) || !strings.Contains(got, kind) || strings.Contains(got, "available") {
			t.Errorf("%s: %s", word, got)
		}
	}
}

func TestPowerAndCurrent(t *testing.T) {
	for point, want := range map[string]string{
		`{"connector":[{"maxPowerAtSocket":49900},{"maxPowerAtSocket":"50000"}]}`: `"charger.supercharger"`,
		`{"connector":[{"maxPowerAtSocket":49900}]}`:                              `"max_kw":49.9`,
		`{"availableChargingPower":[22000,150000]}`:                               `"max_kw":150`,
		`{"currentType":{"value":"dc"}}`:                                          `"charger.supercharger"`,
		`{"currentType":"ac"}`:                                                    `"charger.destination"`,
		`{"currentType":"dc","connector":[{"maxPowerAtSocket":20000}]}`:           `"charger.destination"`,
	} {
		if got := string(one(t, table(point), "").Row); !strings.Contains(got, want) {
			t.Errorf("%s: %s lacks %s", point, got, want)
		}
	}
}

// TestStatuses checks the words of statuses one by one.
func TestStatuses(t *testing.T) {
	words := format.Vocabulary().EVSEStatus
	for property, list := range map[string][]string{"available": words.Available, "occupied": words.Occupied, "out_of_order": words.OutOfOrder, "unknown": {"SOMETHING NEW"}} {
		for _, word := range list {
			got := string(one(t, table(`{"idG":"p"}`), statusOf("p", strings.ToLower(word))).Row)
			if !strings.Contains(got, `"`+property+`":1`) {
				t.Errorf("%s: %s", word, got)
			}
		}
	}
	for _, word := range words.Gone {
		if got := one(t, table(`{"idG":"p"}`), statusOf("p", word)); got.Skip != format.Removed || got.Word != word {
			t.Errorf("%s: %+v", word, got)
		}
	}
	if got := string(one(t, table(`{"idG":"p"}`), statusOf("of another table", "available")).Row); !strings.Contains(got, `"available":0`) || !strings.Contains(got, `"unknown":1`) {
		t.Error("without a status:", got)
	}
	if got := string(one(t, table(`{"idG":"p"}`), "").Row); strings.Contains(got, `"unknown"`) {
		t.Error("without a document of statuses:", got)
	}
}

// TestStatusesOfOnePoint checks that the latest of several statuses of a point counts, in whatever order they stand.
func TestStatusesOfOnePoint(t *testing.T) {
	status := func(word, at string) string {
		return `{"reference":{"idG":"p"},"status":"` + word + `","lastUpdated":"` + at + `"}`
	}
	older, newer, undated := status("available", "2026-03-01T10:00:00Z"), status("charging", "2026-03-01T11:00:00+00:00"), status("faulted", "")
	for _, statuses := range [][]string{{older, newer, undated}, {newer, older, undated}, {undated, newer, older}, {newer, undated, older}} {
		got := string(one(t, table(`{"idG":"p"}`), `{"egiEnergyInfrastructureStatusPublication":{"refillPointStatus":[`+strings.Join(statuses, ",")+`]}}`).Row)
		if !strings.Contains(got, `"occupied":1`) || !strings.Contains(got, `"status_at":"2026-03-01T11:00:00Z"`) {
			t.Errorf("%s: %s", statuses, got)
		}
	}
}

// TestStatusesInOneDocument checks statuses before and after the sites, and with escapes in their names.
func TestStatusesInOneDocument(t *testing.T) {
	sites, statuses := table(`{"idG":"p"}`), statusOf("p", "charging")
	escaped := strings.NewReplacer("egiEnergy", `\u0065giEnergy`, "Publication", `Publicatio\u006e`, "refillPoint", `refillPoin\u0074`).Replace(statuses)
	for _, text := range []string{"[" + sites + "," + statuses + "]", "[" + statuses + "," + sites + "]", "[" + sites + "," + escaped + "]"} {
		if got := string(one(t, text, "").Row); !strings.Contains(got, `"occupied":1`) {
			t.Errorf("%s: %s", text, got)
		}
	}
}

func TestBadDocuments(t *testing.T) {
	good := table(`{"idG":"p"}`)
	for name, tt := range map[string]struct {
		table, status string
		want          format.Fault
	}{
		"neither":             {`{}`, "", format.NotFormat},
		"XML of neither":      {`<a/>`, "", format.NotFormat},
		"statuses alone":      {statusOf("p", "available"), "", format.NotFormat},
		"no statuses":         {good, `{"a":[]}`, format.NotFormat},
		"a table as statuses": {good, good, format.NotFormat},
		"broken statuses":     {good, statusOf("p", "available")[1:], format.BadJSON},
		"broken":              {good[:len(good)-1], "", format.BadJSON},
		"a document type":     {`<!DOCTYPE a><a/>`, "", format.HasDTD},
	} {
		items, err := convert(tt.table, tt.status)
		var bad *format.Error
		if !errors.As(err, &bad) || bad.Fault != tt.want {
			t.Errorf("%s: %v %v, want %s", name, items, err, tt.want)
		}
	}
	if items, err := convert(`{"egiEnergyInfrastructureTablePublication":{}}`, ""); err != nil || len(items) != 0 {
		t.Error("an empty table:", items, err)
	}
}

func FuzzConvert(f *testing.F) {
	for _, name := range []string{"sample.json", "sample-xml.xml"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		items, err := convert(text, "")
		if err != nil {
			return
		}
		for _, item := range items {
			if (item.Skip == "") != (len(item.Row) > 0) {
				t.Errorf("%+v", item)
			}
		}
	})
}
