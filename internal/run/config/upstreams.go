package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of [[upstreams]].
const (
	maxUpstreams   = 16
	maxUpstreamURL = 2048 // characters
	maxName        = 40   // bytes
	maxSecret      = 4096 // bytes
	maxAttribution = 500  // characters
)

// takeUpstream parses one more table of [[upstreams]], and returns all its problems by key.
func takeUpstream(c *Config, v any) error {
	entry := v.(map[string]any)
	u := Upstream{Form: "incidents", Priority: 1}
	var errs []error
	for name, v := range entry {
		if err := u.take(name, v); err != nil {
			errs = append(errs, keyError{name, fmt.Errorf("%s: %w", name, err)})
		}
	}
	for _, name := range []string{"name", "url", "secret"} {
		if _, given := entry[name]; !given {
			errs = append(errs, fmt.Errorf("%s is missing", name))
		}
	}
	if u.Name != "" && slices.ContainsFunc(c.Upstreams, func(o Upstream) bool { return o.Name == u.Name }) {
		errs = append(errs, keyError{"name", fmt.Errorf("name: %q is there twice", u.Name)})
	}
	// An invalid table is kept as well, so that the next ones are numbered right. Load fails anyway.
	c.Upstreams = append(c.Upstreams, u)
	number := len(c.Upstreams)
	if number > maxUpstreams {
		errs = append(errs, fmt.Errorf("at most %d upstreams may be", maxUpstreams))
	}
	for i, err := range errs {
		errs[i] = fmt.Errorf("number %d: %w", number, err)
	}
	return joinSorted(errs)
}

// joinSorted joins problems of a table, whose keys come in no order.
func joinSorted(errs []error) error {
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// keyError is a problem of one key within a setting.
type keyError struct {
	key string
	err error
}

func (e keyError) Error() string { return e.err.Error() }

func (u *Upstream) take(name string, v any) (err error) {
	switch name {
	case "name":
		u.Name, err = checkString(v, checkUpstreamName)
	case "url":
		u.URL, err = checkString(v, checkUpstreamURL)
	case "secret":
		u.Secret, err = checkString(v, checkSecret)
	case "attribution":
		u.Attribution, err = checkString(v, checkAttribution)
	case "form":
		u.Form, err = checkString(v, oneOf("incidents", "incidents-raw"))
	case "priority":
		n, ok := v.(int64)
		if !ok || n < 1 || n > 1000 {
			return errors.New("must be a whole number from 1 to 1000")
		}
		u.Priority = int(n)
	case "area":
		u.Area, err = checkArea(v)
	default:
		return errors.New("unknown key (known are name, url, secret, form, priority, area, attribution)")
	}
	return err
}

// checkUpstreamName accepts names that fit into the keys of a cache and the labels of a metric.
func checkUpstreamName(s string) (string, error) {
	if s == "" || len(s) > maxName || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
		return "", fmt.Errorf("must have 1 to %d characters of a-z, 0-9, _ and -", maxName)
	}
	return s, nil
}

// checkUpstreamURL checks the form of a URL; the HTTP client checks host and path when it is made. Its errors never repeat s.
func checkUpstreamURL(s string) (string, error) {
	if utf8.RuneCountInString(s) > maxUpstreamURL {
		return "", fmt.Errorf("must have at most %d characters", maxUpstreamURL)
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r == '\\' || unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return "", errors.New("must hold no white space, no control characters and no backslash")
	}
	u, err := parseURL(s, "https", "http")
	switch {
	case err != nil:
		return "", err
	case u.User != nil:
		return "", errors.New("must hold no user name and no password: secret is a key of its own")
	case strings.ContainsAny(s, "?#"):
		return "", errors.New("must have no query and no fragment: leave out ? or # and what follows")
	case u.Port() != "" && (u.Port()[0] == '0' || len(u.Port()) > 5):
		return "", errors.New("must have a port from 1 to 65535, or none")
	}
	return s, nil
}

// checkSecret accepts text that an HTTP header transmits unchanged.
func checkSecret(s string) (string, error) {
	switch {
	case s == "":
		return "", errors.New("must not be empty")
	case len(s) > maxSecret:
		return "", fmt.Errorf("must have at most %d bytes", maxSecret)
	case strings.ContainsFunc(s, unicode.IsControl):
		return "", errors.New("must hold no control characters, line breaks and tabs among them")
	case strings.TrimSpace(s) != s:
		return "", errors.New("must not begin or end with white space")
	}
	return s, nil
}

func checkAttribution(s string) (string, error) {
	if utf8.RuneCountInString(s) > maxAttribution || strings.ContainsFunc(s, unicode.IsControl) {
		return "", fmt.Errorf("must have at most %d characters, and no control characters", maxAttribution)
	}
	return s, nil
}

func checkString(v any, check func(string) (string, error)) (string, error) {
	s, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("must be %v", text)
	}
	return check(s)
}

func checkArea(v any) (*[4]float64, error) {
	wrong := errors.New("must be [west, south, east, north] in degrees")
	values, ok := v.([]any)
	if !ok || len(values) != 4 {
		return nil, wrong
	}
	var area [4]float64
	for i, value := range values {
		switch n := value.(type) {
		case int64:
			area[i] = float64(n)
		case float64:
			area[i] = n
		default:
			return nil, wrong
		}
		// This form of the comparison also rejects NaN.
		if bound := [...]float64{180, 90, 180, 90}[i]; !(area[i] >= -bound && area[i] <= bound) {
			return nil, fmt.Errorf("%s is out of range", strconv.FormatFloat(area[i], 'g', -1, 64))
		}
	}
	if area[1] > area[3] {
		return nil, errors.New("south lies north of north")
	}
	return &area, nil
}

func showUpstreams(c *Config) any {
	shown := make([]map[string]any, 0, len(c.Upstreams))
	for _, u := range c.Upstreams {
		entry := map[string]any{
			"name": u.Name, "url": maskURL(u.URL), "secret": mask, "form": u.Form, "priority": u.Priority,
		}
		if u.Attribution != "" {
			entry["attribution"] = u.Attribution
		}
		if u.Area != nil {
			entry["area"] = u.Area[:]
		}
		shown = append(shown, entry)
	}
	return shown
}
