package safehttp

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Refusal says which rule a text breaks, in words for whoever wrote it: a clause that begins with "must". It never
// repeats the text.
type Refusal struct{ code, message string }

func (r *Refusal) Error() string { return r.message }

// Code names the rule for machines.
func (r *Refusal) Code() string { return r.code }

func refuse(code, message string) error { return &Refusal{code, message} }

// URL is a URL that passed the rules of its text (D6.5), in one form: lower-case scheme and host, the host in A-labels
// without a trailing dot, no port 443, path and query as they were written but for what is not ASCII, which is percent-encoded.
type URL struct {
	host   string
	port   int
	parsed *url.URL
}

// String is the URL as it is stored and shown.
func (u *URL) String() string { return u.parsed.String() }

// Origin is scheme, host and port, the port left out when it is 443.
func (u *URL) Origin() string { return "https://" + u.parsed.Host }

// Host is the name of the host in A-labels, without the port.
func (u *URL) Host() string { return u.host }

const (
	maxURL      = 2048 // characters
	httpsPort   = 443
	lowestOther = 1024
	highestPort = 65535
)

// badPorts are the ports from 1024 on that the Fetch standard lets no browser call, for other protocols live there and
// may take an HTTP request for something else.
var badPorts = []int{
	1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
}

// CheckURL holds the text of a URL to D6.5. It fails with a *Refusal whose code is one of too_long, bad_characters,
// not_https, bad_url, fragment, user_info, ip_literal, bad_host, not_public_host, bad_port.
func CheckURL(text string) (*URL, error) {
	if utf8.RuneCountInString(text) > maxURL {
		return nil, refuse("too_long", "must have at most 2048 characters")
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unfit) {
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
	return assemble(host, port, tail)
}

// assemble puts a URL together again from parts that passed.
func assemble(host string, port int, tail string) (*URL, error) {
	authority := host
	if port != httpsPort {
		authority += ":" + strconv.Itoa(port)
	}
	parsed, err := url.Parse("https://" + authority + tail)
	if err != nil {
		return nil, refuse("bad_url", "must have a path in which every % is followed by two hexadecimal digits")
	}
	parsed.RawQuery = escapeNonASCII(parsed.RawQuery)
	u := &URL{host: host, port: port, parsed: parsed}
	if len(u.String()) > maxURL {
		return nil, refuse("too_long", "must have at most 2048 characters, those that are not ASCII counted as they are sent, percent-encoded")
	}
	return u, nil
}

// unfit says which characters stand nowhere in a URL: those that other readers of URLs drop, fold or show as nothing.
// The two joiners are left to the rules of host names; Persian paths need one of them.
func unfit(r rune) bool {
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
	if host, err = checkHost(name); err != nil {
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
	refused := refuse("bad_port", "must have port 443, or one from 1024 to 65535 that no other protocol is known for")
	if len(digits) > 5 || digits[0] == '0' || strings.ContainsFunc(digits, func(r rune) bool { return r < '0' || r > '9' }) {
		return 0, refused
	}
	port, err := strconv.Atoi(digits)
	if err != nil || port > highestPort || port != httpsPort && port < lowestOther || slices.Contains(badPorts, port) {
		return 0, refused
	}
	return port, nil
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
