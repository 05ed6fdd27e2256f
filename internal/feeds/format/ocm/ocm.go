// Package ocm reads charging places of Open Charge Map (D17.32).
package ocm

import (
	"math"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/jsondoc"
	"wayside/internal/ground/geo"
)

// directCurrent is Open Charge Map's id of the current type DC.
const directCurrent = 30

// Convert reads places of Open Charge Map; it implements format.Convert.
func Convert(d format.Document, o *format.Options, yield func(format.Item) error) (format.Summary, error) {
	c := converter{o: o}
	err := jsondoc.Read(d, o.Budget, func(r *jsondoc.Reader) error {
		return r.Elements(func() error {
			v, err := r.Value()
			if err != nil {
				return err
			}
			return yield(c.item(v))
		})
	})
	return format.Summary{}, err
}

type converter struct {
	o   *format.Options
	row []byte
}

// item converts a place to a row, or returns the first reason to skip it (D17.11).
func (c *converter) item(v jsondoc.Value) format.Item {
	if v.Kind() != '{' {
		return format.Item{Skip: format.NotAnItem}
	}
	var item format.Item
	skip := func(reason format.Reason, word string) format.Item {
		item.Skip, item.Word = reason, word
		return item
	}
	id := v.Get("ID").Text()
	if id == "" {
		return skip(format.NoID, "")
	}
	item.ID = "OCM-" + id
	if open, known := v.Get("DataProvider", "IsOpenDataLicensed").Bool(); known && !open {
		return skip(format.NotPublic, v.Get("DataProvider", "Title").Text())
	}
	if status := submission(v); status != "" && status != "100" && status != "200" {
		return skip(format.Removed, status)
	}
	address := v.Get("AddressInfo")
	lat, goodLat := address.Get("Latitude").NumberOrText()
	lng, goodLng := address.Get("Longitude").NumberOrText()
	if !goodLat || !goodLng {
		return skip(format.NoPosition, "")
	}
	row := format.Row{ID: item.ID, Point: geo.Point{Lat: lat, Lng: lng}, Properties: format.Properties{Street: address.Get("AddressLine1").Text()}}
	row.Kind, row.Properties.Charging = c.charger(v)
	c.row = row.Append(c.row[:0])
	item.Row = c.row
	return item
}

// submission returns the number of a place's submission status, or an empty string if the place has none.
func submission(v jsondoc.Value) string {
	if id := v.Get("SubmissionStatus", "ID"); id.Exists() {
		return id.Text()
	}
	if id := v.Get("SubmissionStatusTypeID"); id.Exists() {
		return id.Text()
	}
	return v.Get("SubmissionStatus").Text()
}

// charger reads the connections, and the operator.
func (c *converter) charger(v jsondoc.Value) (string, *format.Charging) {
	address := v.Get("AddressInfo")
	site := format.Site{Charging: format.Charging{
		Name: address.Get("Title").Text(), City: address.Get("Town").Text(), Postcode: address.Get("Postcode").Text(),
		Country: address.Get("Country", "ISOCode").Text(), Operator: v.Get("OperatorInfo", "Title").Text(),
	}}
	points := 0.0
	for connection := range v.Get("Connections").Elements() {
		if kw, ok := connection.Get("PowerKW").NumberOrText(); ok {
			site.Power(kw)
		}
		if current, _ := connection.Get("CurrentTypeID").NumberOrText(); current == directCurrent {
			site.DirectCurrent()
		}
		quantity, known := connection.Get("Quantity").NumberOrText()
		if !known {
			quantity = 1
		}
		points += math.Max(0, math.Round(quantity))
	}
	kind, charging := site.Finish(c.o.ChargerNetwork)
	if points > 0 {
		charging.EVSEs = format.Whole(points)
		if works, known := v.Get("StatusType", "IsOperational").Bool(); known && !works {
			charging.Available, charging.Occupied, charging.OutOfOrder, charging.Unknown = format.Num(0), format.Num(0), format.Whole(points), format.Num(0)
		}
	}
	return kind, charging
}
