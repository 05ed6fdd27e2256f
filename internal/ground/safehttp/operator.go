package safehttp

import (
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"
)

// OperatorURL validates a URL from the operator's configuration (D8.1): http or https, any host name or address, any port.
// Its addresses are not checked, and redirects from it are not followed. It has no query; With adds parameters. It fails with a *Refusal whose code is one of
// too_long, bad_characters, bad_scheme, bad_url, fragment, query, user_info, bad_host, bad_address, bad_port.
func OperatorURL(text string) (*URL, error) {
	if utf8.RuneCountInString(text) > maxURL {
		return nil, refuse("too_long", "must have at most 2048 characters")
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, forbiddenRune) {
		return nil, refuse("bad_characters", "must hold no white space, no control or invisible characters and no backslash")
	}
	scheme, rest, found := strings.Cut(text, "://")
	if scheme = strings.ToLower(scheme); !found || scheme != "http" && scheme != "https" {
		return nil, refuse("bad_scheme", "must begin with http:// or https://")
	}
	switch {
	case strings.Contains(rest, "#"):
		return nil, refuse("fragment", "must have no fragment: leave out # and what follows")
	case strings.Contains(rest, "?"):
		return nil, refuse("query", "must have no query: leave out ? and what follows")
	}
	authority, tail := rest, ""
	if end := strings.IndexByte(rest, '/'); end >= 0 {
		authority, tail = rest[:end], rest[end:]
	}
	u, err := operatorAuthority(authority, defaultPort(scheme))
	if err != nil {
		return nil, err
	}
	return assemble(u, scheme, tail)
}

// operatorAuthority parses host and port; an empty or missing port is the scheme's default.
func operatorAuthority(authority string, port int) (*URL, error) {
	if strings.Contains(authority, "@") {
		return nil, refuse("user_info", "must hold no user name and no password: the secret is a setting of its own")
	}
	end := strings.LastIndexByte(authority, ']') + 1 // of an address in brackets
	host, digits := authority, ""
	if colon := strings.IndexByte(authority[end:], ':'); colon >= 0 {
		host, digits = authority[:end+colon], authority[end+colon+1:]
	}
	u := &URL{port: port, operator: true}
	if digits != "" {
		var ok bool
		if u.port, ok = portNumber(digits); !ok {
			return nil, refuse("bad_port", "must have a port from 1 to 65535, or none; an IPv6 address stands in brackets")
		}
	}
	var err error
	u.host, u.addr, err = operatorHost(host)
	return u, err
}

// operatorHost returns a name in A-labels, or an address in canonical form.
func operatorHost(text string) (string, netip.Addr, error) {
	inner, bracketed := strings.CutPrefix(text, "[")
	if bracketed {
		addr, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		if err != nil || !addr.Is6() || addr.Zone() != "" || !strings.HasSuffix(inner, "]") {
			return "", netip.Addr{}, refuse("bad_address", "must have an IPv6 address without a zone between its brackets")
		}
		addr = addr.Unmap()
		return addr.String(), addr, nil
	}
	host, err := hostRules.ToASCII(text)
	host = strings.TrimSuffix(host, ".")
	labels := strings.Split(host, ".")
	if isNumber(labels[len(labels)-1]) {
		addr, err := netip.ParseAddr(host)
		if err != nil {
			return "", netip.Addr{}, refuse("bad_address", "must write an IPv4 address as four decimal numbers, such as 192.0.2.1")
		}
		return addr.String(), addr, nil
	}
	if err != nil || strings.Contains(text, "%") || len(host) > maxName || slices.ContainsFunc(labels, badLabel) {
		return "", netip.Addr{}, refuse("bad_host", "must name a host by letters, digits and hyphens, or by its address")
	}
	return host, netip.Addr{}, nil
}
