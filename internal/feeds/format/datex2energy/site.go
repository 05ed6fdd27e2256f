package datex2energy

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"wayside/internal/feeds/format"
	"wayside/internal/ground/geo"
)

// item converts a site to a row, or returns the first reason to skip it (D17.11).
func (c *converter) item(t thing) format.Item {
	item := format.Item{ID: t.id()}
	if item.ID == "" {
		item.Skip = format.NoID
		return item
	}
	site := format.Site{Told: c.hasStatuses, Charging: format.Charging{Name: t.kid("name").words(), Operator: t.kid("operator").find("name").words()}}
	points := 0
	var at time.Time
	t.each("refillPoint", func(point thing) {
		if inner := point.kid("electricChargingPoint"); inner.exists() {
			point = inner
		} else if point.part().typ != "electricChargingPoint" {
			return
		}
		points++
		status := c.statuses[point.id()]
		if !site.Point(status.word) {
			item.Word = status.word
			return
		}
		if status.at.After(at) {
			at = status.at
		}
		c.point(&site, point)
	})
	switch {
	case points > 0 && site.Points() == 0:
		item.Skip = format.Removed
		return item
	case points == 0:
		item.Skip = format.NoKind
		return item
	}
	item.Word = ""
	place, ok := placeOf(t)
	if !ok {
		item.Skip = format.NoPosition
		return item
	}
	row := format.Row{ID: item.ID, Point: place}
	address(t.find("address"), &row.Properties, &site.Charging)
	site.Charging.StatusAt = at
	row.Kind, row.Properties.Charging = site.Finish(c.o.ChargerNetwork)
	c.row = row.Append(c.row[:0])
	item.Row = c.row
	return item
}

// point adds a charging point to the site.
func (c *converter) point(site *format.Site, point thing) {
	for _, name := range [...]string{"maxPowerAtSocket", "availableChargingPower"} {
		point.each(name, func(power thing) {
			if watts, err := strconv.ParseFloat(power.words(), 64); err == nil {
				site.Power(watts / 1000)
			}
		})
	}
	point.each("currentType", func(current thing) {
		if strings.EqualFold(current.words(), "dc") {
			site.DirectCurrent()
		}
	})
	point.each("connectorType", func(plug thing) {
		word := plug.words()
		site.Plug(c.words.Plugs.DATEX2, word)
		if slices.Contains([]string{"ccs", "ccs1", "chademo", "mcs"}, c.words.Plugs.DATEX2[word]) {
			site.DirectCurrent()
		}
	})
}

// placeOf returns the position of a site: the first coordinates of its location, otherwise of its first station.
func placeOf(t thing) (geo.Point, bool) {
	if p, ok := coordinates(t.kid("locationReference")); ok {
		return p, true
	}
	return coordinates(t.find("energyInfrastructureStation").find("locationReference"))
}

// coordinates returns the first latitude and longitude that are siblings.
func coordinates(t thing) (geo.Point, bool) {
	if !t.exists() {
		return geo.Point{}, false
	}
	for i, end := t.at, t.part().next; i < end && t.tree.visit(); i++ {
		inner := thing{t.tree, i}
		north, east := inner.kid("latitude"), inner.kid("longitude")
		if !north.exists() || !east.exists() {
			continue
		}
		lat, errLat := strconv.ParseFloat(north.words(), 64)
		lng, errLng := strconv.ParseFloat(east.words(), 64)
		if errLat == nil && errLng == nil {
			return geo.Point{Lat: lat, Lng: lng}, true
		}
	}
	return geo.Point{}, false
}

// address reads the postcode, city and country, and the street with the house number.
func address(t thing, p *format.Properties, c *format.Charging) {
	c.Postcode, c.City, c.Country = t.kid("postcode").words(), t.kid("city").words(), t.kid("countryCode").words()
	var street, number string
	t.each("addressLine", func(line thing) {
		switch kind := line.kid("type").words(); {
		case kind == "street" && street == "":
			street = line.kid("text").words()
		case kind == "houseNumber" && number == "":
			number = line.kid("text").words()
		}
	})
	p.Street = strings.TrimSpace(street + " " + number)
}
