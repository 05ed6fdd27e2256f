package config

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/BurntSushi/toml"
)

// WriteTOML writes the configuration as a file that Load accepts, with masked secrets, and with the source of each value
// that is not the default.
func (c *Config) WriteTOML(w io.Writer) error {
	var out bytes.Buffer
	section := ""
	for _, s := range settings() {
		key := s.key
		if before, name, ok := strings.Cut(s.key, "."); ok {
			if s.form != table && before != section {
				fmt.Fprintf(&out, "\n[%s]\n", before)
				section = before
			}
			key = name
		}
		if err := c.writeSetting(&out, s, key); err != nil {
			return fmt.Errorf("write %s: %w", s.key, err)
		}
	}
	_, err := w.Write(out.Bytes())
	return err
}

func (c *Config) writeSetting(out *bytes.Buffer, s setting, name string) error {
	var shown bytes.Buffer
	value := s.show(c)
	switch s.form {
	case table:
		fmt.Fprintf(out, "[%s]%s\n", s.key, c.origin(s.key))
		if err := toml.NewEncoder(&shown).Encode(value); err != nil {
			return err
		}
		out.Write(shown.Bytes())
		return nil
	case tables:
		if len(value.([]map[string]any)) == 0 {
			return nil
		}
	}
	if err := toml.NewEncoder(&shown).Encode(map[string]any{name: value}); err != nil {
		return err
	}
	if s.form == tables {
		out.Write(shown.Bytes())
		return nil
	}
	fmt.Fprintf(out, "%s%s\n", bytes.TrimRight(shown.Bytes(), "\n"), c.origin(s.key))
	return nil
}

// origin returns a comment with the source of a value; empty for a default.
func (c *Config) origin(key string) string {
	if where := c.origins[key]; where != "" {
		return "  # " + where
	}
	return ""
}

// Differences lists the keys whose values differ, in order. Secrets within URLs are not compared.
func Differences(a, b *Config) []string {
	var keys []string
	for _, s := range settings() {
		if !reflect.DeepEqual(s.show(a), s.show(b)) {
			keys = append(keys, s.key)
		}
	}
	return keys
}
