package safehttp

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxAuthHeader = 8 << 10 // bytes

// Names of headers, in lower case, that belong to the transport, to the service, or to the metadata services of clouds
// (D5.2). User-Agent is the service's own by D6.2.
var (
	reservedNames = []string{
		"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "expect",
		"accept", "accept-encoding", "range", "metadata-flavor", "user-agent",
	}
	reservedPrefixes = []string{"proxy-", "if-", "x-aws-"}
)

// CheckAuthHeader parses a header of the form «Name: value» and validates it (D5.2). Space around the value is trimmed.
// It fails with a *Refusal whose code is one of empty, too_long, bad_form, bad_name, bad_characters,
// reserved_name.
func CheckAuthHeader(text string) (name, value string, err error) {
	if len(text) > maxAuthHeader {
		return "", "", refuse("too_long", "must have at most 8 KiB")
	}
	if strings.TrimSpace(text) == "" {
		return "", "", refuse("empty", "must not be empty")
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return "", "", refuse("bad_characters", "must hold no control characters, line breaks and tabs among them")
	}
	name, value, found := strings.Cut(text, ":")
	if !found {
		return "", "", refuse("bad_form", "must have the form «Name: value»")
	}
	if name == "" || strings.Trim(name, tokenCharacters) != "" {
		return "", "", refuse("bad_name", "must begin with a header's name, of letters, digits and hyphens, directly before the colon")
	}
	if reserved(strings.ToLower(name)) {
		return "", "", refuse("reserved_name", "must not use a name that belongs to HTTP, to this service or to a cloud's metadata")
	}
	if value = strings.Trim(value, " "); value == "" {
		return "", "", refuse("empty", "must have a value after the colon")
	}
	return name, value, nil
}

// tokenCharacters are those of a token (RFC 9110, 5.6.2).
const tokenCharacters = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

func reserved(name string) bool {
	return slices.Contains(reservedNames, name) ||
		slices.ContainsFunc(reservedPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}
