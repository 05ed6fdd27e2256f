package car

import (
	"math"
	"strings"
)

// Units of lengths and weights in tags.
const (
	inchMetres       = 0.0254
	inchesInAFoot    = 12
	poundKilograms   = 0.45359237
	tonneKilograms   = 1000
	defaultMaxHeight = 4.5 // metres, for a sign without a number
)

// maxDigits is how many digits of a number in a tag are used; more do not fit into the mantissa of a float64.
const maxDigits = 15

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// leadingDigits parses the whole number at the beginning of a value.
func leadingDigits(value string) (float64, bool) {
	n, i := 0.0, 0
	for i < len(value) && isDigit(value[i]) {
		n = n*10 + float64(value[i]-'0')
		i++
	}
	return n, i > 0 && i <= maxDigits
}

// decimal parses the first number in a value, with a point or a comma before its fraction, and returns the text after
// it.
func decimal(value string) (n float64, rest string, ok bool) {
	start := strings.IndexAny(value, "0123456789")
	if start < 0 {
		return 0, "", false
	}
	digits, fraction, i := 0, -1, start
	for ; i < len(value); i++ {
		c := value[i]
		if fraction < 0 && (c == '.' || c == ',') {
			fraction = 0
			continue
		}
		if !isDigit(c) {
			break
		}
		digits++
		if digits > maxDigits {
			if fraction < 0 {
				return 0, "", false
			}
			continue // drop digits of the fraction that a float64 cannot hold
		}
		n = n*10 + float64(c-'0')
		if fraction >= 0 {
			fraction++
		}
	}
	if fraction > 0 {
		n /= math.Pow10(fraction) // a single division of whole numbers, so that 1.9 becomes the nearest float64
	}
	return n, value[i:], true
}

// metres parses a length: metres, or feet and inches such as 6'7".
func metres(value string) (float64, bool) {
	if value == "" {
		return 0, false
	}
	n, rest, ok := decimal(value)
	if !ok {
		return 0, false
	}
	if _, inches, imperial := strings.Cut(rest, "'"); imperial {
		n *= inchesInAFoot
		if start := strings.IndexAny(inches, "0123456789"); start >= 0 {
			if m, ok := leadingDigits(inches[start:]); ok {
				n += m
			}
		}
		n *= inchMetres
	}
	return n, true
}

// height parses a height limit, which may be one of the words for the usual height of bridges.
func height(value string) (float64, bool) {
	switch value {
	case "default", "none", "no-sign", "unsigned":
		return defaultMaxHeight, true
	}
	return metres(value)
}

// kilograms parses a weight: tonnes, or kilograms or pounds if the value has their unit.
func kilograms(value string) (float64, bool) {
	if value == "" {
		return 0, false
	}
	n, _, ok := decimal(value)
	switch {
	case !ok:
		return 0, false
	case strings.Contains(value, "lbs"):
		return n * poundKilograms, true
	case strings.Contains(value, "kg"):
		return n, true
	}
	return n * tonneKilograms, true
}
