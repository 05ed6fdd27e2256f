package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// takeUpstreams reads [[upstreams]]. They are checked as if they could be used, so that a file written for later is right
// already, and then refused.
func takeUpstreams(c *Config, v any) error {
	var (
		taken []Upstream
		errs  []error
	)
	for i, entry := range v.([]map[string]any) {
		u, err := takeUpstream(entry)
		if err == nil && slices.ContainsFunc(taken, func(o Upstream) bool { return o.Name == u.Name }) {
			err = fmt.Errorf("name %q is there twice", u.Name)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("number %d: %w", i+1, err))
			continue
		}
		taken = append(taken, u)
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	c.Upstreams = taken
	if len(taken) > 0 {
		return errors.New("relay is not available in this version yet: leave upstreams out")
	}
	return nil
}

func takeUpstream(entry map[string]any) (Upstream, error) {
	u := Upstream{Form: "incidents", Priority: 1}
	var errs []error
	for name, v := range entry {
		if err := u.take(name, v); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	for name, value := range map[string]string{"name": u.Name, "url": u.URL, "secret": u.Secret} {
		if _, given := entry[name]; !given && value == "" {
			errs = append(errs, fmt.Errorf("%s is missing", name))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return u, errors.Join(errs...)
}

func (u *Upstream) take(name string, v any) (err error) {
	switch name {
	case "name":
		u.Name, err = checkString(v, checkNotEmpty)
	case "url":
		u.URL, err = checkString(v, func(s string) (string, error) {
			_, err := parseURL(s, "https", "http")
			return s, err
		})
	case "secret":
		u.Secret, err = checkString(v, checkNotEmpty)
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
		return errors.New("unknown key (known are name, url, secret, form, priority, area)")
	}
	return err
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
		// Written so that NaN fails.
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
		if u.Area != nil {
			entry["area"] = u.Area[:]
		}
		shown = append(shown, entry)
	}
	return shown
}
