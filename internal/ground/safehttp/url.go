package safehttp

import (
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"wayside/internal/ground/mapdata"
)

// Refusal is a validation error. Its message, for the author of the text, is a clause that begins with "must"; it never
// repeats the text.
type Refusal struct{ code, message string }

func (r *Refusal) Error() string { return r.message }

// Code returns the rule's machine-readable code.
func (r *Refusal) Code() string { return r.code }

// ReasonOf returns the code of a Refusal as the reason of a failed fetch; empty if err is not one.
func ReasonOf(err error) mapdata.Reason {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return mapdata.Reason(refusal.code)
	}
	return ""
}

func refuse(code, message string) error { return &Refusal{code, message} }

// URL is a validated URL, a provider's (CheckURL, D6.5) or the operator's (OperatorURL, D8.1), in canonical form: lower-case
// scheme and host, the host in A-labels without a trailing dot or as an IP address, no default port, path and query
// unchanged except that non-ASCII characters are percent-encoded.
type URL struct {
	host     string     // an IPv6 address without brackets
	addr     netip.Addr // of a host that is an IP literal; the zero Addr: host is a name
	port     int
	operator bool // set by OperatorURL only: every address is allowed, and no redirect is followed
	parsed   *url.URL
}

// String returns the URL as it is stored and shown.
func (u *URL) String() string { return u.parsed.String() }

// Origin returns scheme, host and port, without the scheme's default port.
func (u *URL) Origin() string { return u.parsed.Scheme + "://" + u.parsed.Host }

// Host returns the name of the host in A-labels, or its address, without the port and without brackets.
func (u *URL) Host() string { return u.host }

// With returns a copy of the URL with the unescaped path appended to its own after one slash (empty: its own path), and with
// its query replaced (nil: none). No path can change the host or end the path early.
func (u *URL) With(path string, query url.Values) *URL {
	next, parsed := *u, *u.parsed
	if path = strings.TrimPrefix(path, "/"); path != "" {
		plain, escaped := parsed.Path, parsed.EscapedPath()
		if strings.HasSuffix(escaped, "/") {
			plain, escaped = plain[:len(plain)-1], escaped[:len(escaped)-1]
		}
		parsed.Path = plain + "/" + path
		parsed.RawPath = escaped + (&url.URL{Path: "/" + path}).EscapedPath()
	}
	parsed.RawQuery, parsed.ForceQuery = query.Encode(), false
	next.parsed = &parsed
	return &next
}

const (
	maxURL      = 2048 // characters
	httpPort    = 80
	httpsPort   = 443
	lowestOther = 1024
	highestPort = 65535
)

// badPorts are the ports from 1024 on that the Fetch standard blocks, because services of other protocols may misinterpret an
// HTTP request.
var badPorts = []int{
	1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
}

// CheckURL validates a provider's URL (D6.5). It fails with a *Refusal whose code is one of too_long, bad_characters,
// not_https, bad_url, fragment, user_info, ip_literal, bad_host, not_public_host, bad_port.
func CheckURL(text string) (*URL, error) {
	if utf8.RuneCountInString(text) > maxURL {
		return nil, refuse("too_long", "must have at most 2048 characters")
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, forbiddenRune) {
		return nil, refuse("bad_characters", "must hold no white space, no control or invisible characters and no backslash")
	}
	scheme, rest, found := strings.Cut(text, ":")
	if !found || !strings.EqualFold(scheme, "https") {
		return nil, refuse("not_https", "must begin with https://")
	}
	rest, found = strings.CutPrefix(rest, "//")
	if !found {
		return nil, refuse("bad_url", "must begin with https:// and the name of a host")
	}
	if strings.Contains(rest, "#") {
		return nil, refuse("fragment", "must have no fragment: leave out # and what follows")
	}
	authority, tail := rest, ""
	if end := strings.IndexAny(rest, "/?"); end >= 0 {
		authority, tail = rest[:end], rest[end:]
	}
	host, port, err := checkAuthority(authority)
	if err != nil {
		return nil, err
	}
	return assemble(&URL{host: host, port: port}, "https", tail)
}

// assemble builds a URL from validated parts.
func assemble(u *URL, scheme, tail string) (*URL, error) {
	authority := u.host
	if u.addr.Is6() {
		authority = "[" + authority + "]"
	}
	if u.port != defaultPort(scheme) {
		authority += ":" + strconv.Itoa(u.port)
	}
	parsed, err := url.Parse(scheme + "://" + authority + tail)
	if err != nil {
		return nil, refuse("bad_url", "must have a path in which every % is followed by two hexadecimal digits")
	}
	parsed.RawQuery = escapeNonASCII(parsed.RawQuery)
	u.parsed = parsed
	if len(u.String()) > maxURL {
		return nil, refuse("too_long", "must have at most 2048 characters, those that are not ASCII counted as they are sent, percent-encoded")
	}
	return u, nil
}

func defaultPort(scheme string) int {
	if scheme == "http" {
		return httpPort
	}
	return httpsPort
}

// forbiddenRune reports characters that are rejected anywhere in a URL: those that other URL parsers drop or normalize, or that
// are invisible. The two joiners are left to the rules of host names; Persian paths need one of them.
func forbiddenRune(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	switch {
	case r == '\\' || unicode.IsSpace(r) || unicode.IsControl(r) || unicode.In(r, unicode.Z):
		return true
	case r == nonJoiner || r == joiner:
		return false
	}
	return unicode.Is(unicode.Cf, r)
}

func checkAuthority(authority string) (host string, port int, err error) {
	if strings.Contains(authority, "@") {
		return "", 0, refuse("user_info", "must hold no user name and no password: what comes before @ belongs into pull_auth_header")
	}
	if strings.HasPrefix(authority, "[") || strings.Count(authority, ":") > 1 {
		return "", 0, refuse("ip_literal", "must name a host: an IP address is none")
	}
	name, digits, _ := strings.Cut(authority, ":")
	if host, err = CheckHost(name); err != nil {
		return "", 0, err
	}
	if port, err = checkPort(digits); err != nil {
		return "", 0, err
	}
	return host, port, nil
}

func checkPort(digits string) (int, error) {
	if digits == "" {
		return httpsPort, nil
	}
	port, ok := portNumber(digits)
	if !ok || port != httpsPort && port < lowestOther || slices.Contains(badPorts, port) {
		return 0, refuse("bad_port", "must have port 443, or one from 1024 to 65535 that no other protocol is known for")
	}
	return port, nil
}

// portNumber parses a port, 1 to 65535 without leading zeros.
func portNumber(digits string) (int, bool) {
	if digits == "" || len(digits) > 5 || digits[0] == '0' || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	port, err := strconv.Atoi(digits)
	return port, err == nil && port <= highestPort
}

func escapeNonASCII(query string) string {
	var b strings.Builder
	for i := range len(query) {
		if query[i] < utf8.RuneSelf {
			b.WriteByte(query[i])
			continue
		}
		b.WriteString("%" + strings.ToUpper(strconv.FormatUint(uint64(query[i]), 16)))
	}
	return b.String()
}
