package config

import (
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"wayside/internal/nodes/valkey"
)

func anyText(s string) (string, error) { return s, nil }

func checkNotEmpty(s string) (string, error) {
	if s == "" {
		return "", errors.New("must not be empty")
	}
	return s, nil
}

// orEmpty accepts the empty text, which turns the setting off.
func orEmpty(check func(string) (string, error)) func(string) (string, error) {
	return func(s string) (string, error) {
		if s == "" {
			return "", nil
		}
		return check(s)
	}
}

func oneOf(valid ...string) func(string) (string, error) {
	return func(s string) (string, error) {
		if !slices.Contains(valid, s) {
			return "", fmt.Errorf("%q is none of %s", s, strings.Join(valid, ", "))
		}
		return s, nil
	}
}

func checkBaseURL(s string) (string, error) {
	u, err := parseURL(s, "http", "https")
	switch {
	case err != nil:
		return "", err
	case u.User != nil, u.Path != "" && u.Path != "/", u.RawQuery != "" || u.ForceQuery, u.Fragment != "":
		return "", errors.New("takes scheme, host and port only, such as https://map.example.org")
	}
	return strings.ToLower(u.Scheme) + "://" + strings.ToLower(u.Host), nil
}

// checkOrigin accepts the form in which browsers send Origin (D12.9).
func checkOrigin(s string) (string, error) {
	if strings.HasSuffix(s, "/") {
		return "", fmt.Errorf("%q: an origin has no slash at its end", s)
	}
	origin, err := checkBaseURL(s)
	if err != nil {
		return "", fmt.Errorf("%q: %w", s, err)
	}
	return origin, nil
}

// checkStyleURL accepts URLs that drivers' browsers can load. It refuses a user and a password, because every driver would see
// them.
func checkStyleURL(s string) (string, error) {
	u, err := parseURL(s, "http", "https")
	switch {
	case err != nil:
		return "", err
	case u.User != nil:
		return "", errors.New("takes no user and no password: every browser would be told")
	case u.Fragment != "":
		return "", errors.New("takes no #fragment")
	case strings.ContainsAny(u.Host, " ;,'\"*"):
		return "", fmt.Errorf("%q is not a host", u.Host) // it goes into the page's Content-Security-Policy
	}
	return s, nil
}

// parseURL parses a URL with a host and one of the schemes. Its errors never repeat s, which may contain a password.
func parseURL(s string, schemes ...string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || !slices.Contains(schemes, u.Scheme) {
		return nil, fmt.Errorf("must be a URL that begins with %s://", strings.Join(schemes, ":// or "))
	}
	if u.Port() == "" {
		return u, nil
	}
	return u, checkPort(u.Port())
}

// checkHost accepts a name or an address as in a Host header, without a port, and "*" for all.
func checkHost(s string) (string, error) {
	if s == "*" {
		return s, nil
	}
	name := strings.TrimSuffix(strings.ToLower(s), ".")
	if addr, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil && addr.Zone() == "" {
		return addr.String(), nil
	}
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("/:@[]*", r) }) {
		return "", fmt.Errorf("%q is not a host: a name or an address without port, such as map.example.org, or * for all", s)
	}
	return name, nil
}

func checkPort(s string) error {
	if _, err := strconv.ParseUint(s, 10, 16); err != nil {
		return fmt.Errorf("%q is not a port: 0 to 65535", s)
	}
	return nil
}

func checkListen(s string) (string, error) {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return "", fmt.Errorf("%q is not a host:port, such as 127.0.0.1:8080 or :8080", s)
	}
	if strings.ContainsFunc(host, func(r rune) bool { return unicode.IsSpace(r) || r == '/' }) {
		return "", fmt.Errorf("%q is not a host", host)
	}
	return s, checkPort(port)
}

// checkNodeAddress checks the address at which other nodes reach this one.
func checkNodeAddress(s string) (string, error) {
	if _, err := checkListen(s); err != nil {
		return "", err
	}
	host, port, err := net.SplitHostPort(s)
	if addr, ip := netip.ParseAddr(host); err != nil || host == "" || port == "0" || ip == nil && addr.IsUnspecified() {
		return "", fmt.Errorf("%q names no host and port of this node, such as 10.0.0.5:8080", s)
	}
	return s, nil
}

func parsePrefix(s string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(s); err == nil && addr.Zone() == "" {
		return netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()), nil
	}
	p, err := netip.ParsePrefix(s)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("%q is not an address range, such as 10.0.0.0/8 or fd00::/8", s)
	}
	if p != p.Masked() {
		return netip.Prefix{}, fmt.Errorf("%q has bits beyond its length: %s is meant?", s, p.Masked())
	}
	return p, nil
}

func parseHost(name, address string) (string, netip.Addr, error) {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("/:@", r) }) {
		return "", netip.Addr{}, fmt.Errorf("%q is not a host name", name)
	}
	addr, err := netip.ParseAddr(address)
	if err != nil || addr.Zone() != "" {
		return "", netip.Addr{}, fmt.Errorf("%s: %q is not an address, such as 127.0.0.1", name, address)
	}
	return strings.ToLower(strings.TrimSuffix(name, ".")), addr.Unmap(), nil
}

func checkDatabaseURL(s string) (string, error) {
	// There may be several hosts, or folders of sockets: the database driver checks them.
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return "", errors.New("must be empty (SQLite in data_dir) or begin with postgres://")
	}
	if query := u.Query(); query.Has("password") || query.Has("sslpassword") {
		return "", errors.New("the password stands before the @: postgres://user:password@host/database")
	}
	return s, nil
}

func checkCacheURL(s string) (string, error) { return s, valkey.CheckURL(s) }

func checkNetwork(s string) (string, error) {
	if s == "" || len(s) > 64 || strings.ContainsFunc(s, func(r rune) bool { return r == ',' || unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return "", fmt.Errorf("%q is not an operator id: 1 to 64 characters without commas and white space", s)
	}
	return s, nil
}

func checkMailFrom(s string) (string, error) {
	if _, err := mail.ParseAddress(s); err != nil {
		return "", errors.New("must be one e-mail address, such as wayside@example.org or \"Wayside <wayside@example.org>\"")
	}
	return s, nil
}

func checkSMTPURL(s string) (string, error) {
	u, err := parseURL(s, "smtp", "smtps")
	switch {
	case err != nil:
		return "", err
	case u.Path != "" && u.Path != "/", u.Fragment != "":
		return "", errors.New("has no path: use one such as smtps://user:password@mail.example.org:465")
	}
	for name, values := range u.Query() {
		if name != "starttls" || len(values) != 1 || !slices.Contains([]string{"required", "optional", "never"}, values[0]) {
			return "", errors.New("takes behind a question mark only starttls=required, starttls=optional or starttls=never")
		}
	}
	return s, nil
}

// mask replaces a secret in output.
const mask = "xxxxx"

// maskURL hides the password of a URL.
func maskURL(s string) string {
	if s == "" {
		return ""
	}
	u, err := url.Parse(s)
	if err != nil {
		return mask
	}
	return u.Redacted()
}

// checkEngineURL checks the form of the URL of an engine; the HTTP client checks its host when it is made.
func checkEngineURL(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	return checkUpstreamURL(s)
}

// checkWord accepts a word of a command.
func checkWord(s string) (string, error) {
	if s == "" || strings.ContainsRune(s, 0) {
		return "", fmt.Errorf("%q is not a word of a command", s)
	}
	return s, nil
}
