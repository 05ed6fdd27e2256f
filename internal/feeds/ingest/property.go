package ingest

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wayside/internal/ground/mapdata"
)

// misfits are the well-known properties of a row whose values readers will not show. They include properties that
// entities of the row's kind do not have, because the kind is known later (misfits.of).
type misfits struct{ wrongType, outOfRange mapdata.PropertySet }

// of returns the misfits that apply to the kind.
func (m misfits) of(k mapdata.Kind) misfits {
	has := mapdata.PropertiesOf(k)
	return misfits{m.wrongType & has, m.outOfRange & has}
}

// look checks the value of a property that may be well-known. It is called for each property of each row, so that it
// allocates memory only for texts of times and enums.
func (m *misfits) look(name []byte, value walker) {
	p, known := mapdata.ParseProperty(name)
	if !known {
		return
	}
	first := value.peek()
	if first == 'n' {
		return // null counts as absent
	}
	right, fits := true, true
	switch p.Type() {
	case mapdata.PropertyNumber:
		if right = first == '-' || first >= '0' && first <= '9'; right {
			fits = inRange(p, value.skip())
		}
	case mapdata.PropertyBool:
		right = first == 't' || first == 'f'
	case mapdata.PropertyTexts:
		right = first == '['
	case mapdata.PropertyText:
		right = first == '"'
	case mapdata.PropertyTime:
		if right = first == '"'; right {
			inside, _ := value.text()
			_, err := mapdata.ParseTime(inside)
			fits = err == nil
		}
	case mapdata.PropertyEnum:
		if right = first == '"'; right {
			inside, _ := value.text()
			fits = p.Names(string(inside))
		}
	}
	switch {
	case !right:
		m.wrongType = m.wrongType.With(p)
	case !fits:
		m.outOfRange = m.outOfRange.With(p)
	}
}

// inRange reports whether the property may have a JSON number as its value. Most numbers have a few digits.
func inRange(p mapdata.Property, raw []byte) bool {
	const maxDigits = 6
	if len(raw) <= maxDigits {
		n := 0
		for i, c := range raw {
			if c < '0' || c > '9' {
				break
			}
			n = 10*n + int(c-'0')
			if i == len(raw)-1 {
				return p.InRange(float64(n))
			}
		}
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	return err == nil && p.InRange(v)
}

// Warning describes a well-known property that does not fit in some rows. The rows were accepted, and the property is
// stored as it was sent; readers do not show it.
type Warning struct {
	Property   string `json:"property"`
	Code       string `json:"code"`        // mapdata.WarnPropertyType or mapdata.WarnPropertyRange
	Rows       int    `json:"rows"`        // how many rows have it
	Index      int    `json:"index"`       // of the first of them in its array, from 0
	ExternalID string `json:"external_id"` // of the first of them
	Message    string `json:"message"`
}

// warn counts the misfits of a good row. Only a bounded number of examples is kept: the first row of each property and
// code, and MaxExamples of each code.
func (v *verdict) warn(index int, row *Row) {
	if row.misfits == (misfits{}) || row.Retire {
		return
	}
	v.warnOf(index, row, row.misfits.wrongType, mapdata.WarnPropertyType)
	v.warnOf(index, row, row.misfits.outOfRange, mapdata.WarnPropertyRange)
}

// warnOf counts a row with such properties: once for the code, and once for each property.
func (v *verdict) warnOf(index int, row *Row, properties mapdata.PropertySet, code string) {
	if properties == 0 {
		return
	}
	r := reasonFor(&v.warnings, code)
	r.Rows++
	for p := range mapdata.Property(mapdata.PropertyCount) {
		if properties.Has(p) {
			v.warnOfProperty(index, row, p, code, r)
		}
	}
}

func (v *verdict) warnOfProperty(index int, row *Row, p mapdata.Property, code string, r *mapdata.Rejection) {
	at := slices.IndexFunc(v.report.Warnings, func(w Warning) bool { return w.Property == p.Name() && w.Code == code })
	if at < 0 {
		at = len(v.report.Warnings)
		v.report.Warnings = append(v.report.Warnings, Warning{
			Property: p.Name(), Code: code, Index: index, ExternalID: row.ExternalID, Message: "properties." + p.Name() + " " + expected(p) + " to be shown.",
		})
	}
	v.report.Warnings[at].Rows++
	if len(r.Examples) < mapdata.MaxExamples {
		r.Examples = append(r.Examples, mapdata.RejectedRow{
			Index: index, ExternalID: cut(row.ExternalID, maxExternalID), Field: "properties." + p.Name(),
			Message: v.report.Warnings[at].Message, Value: beginning(propertyValue(row.Properties, p.Name())),
		})
	}
}

// expected returns what a property must be, as text that follows its name.
func expected(p mapdata.Property) string {
	info := p.Info()
	switch info.Type {
	case mapdata.PropertyNumber:
		text := fmt.Sprintf("must be a number from %g to %g", info.Min, info.Max)
		if info.Unit != "" {
			text += " " + info.Unit
		}
		return text
	case mapdata.PropertyBool:
		return "must be true or false"
	case mapdata.PropertyTexts:
		return "must be a list of strings"
	case mapdata.PropertyTime:
		return "must be a time in RFC 3339, such as 2026-11-21T08:00:00Z,"
	case mapdata.PropertyEnum:
		return "must be one of " + strings.Join(info.Values, ", ")
	}
	return "must be a string"
}

// propertyValue returns the value of a property, as written, of an object without white space.
func propertyValue(object []byte, name string) []byte {
	w := walker{b: object, i: 1}
	for w.next() {
		inside, escaped := w.text()
		if escaped {
			inside, _ = unescape(nil, inside)
		}
		w.colon()
		if value := w.skip(); bytes.Equal(inside, []byte(name)) {
			return value
		}
	}
	return nil
}
