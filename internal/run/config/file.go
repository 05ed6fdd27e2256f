package config

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// file applies the settings of a TOML file.
func (l *loader) file(path string, data []byte) {
	where := filepath.Base(path)
	var top map[string]toml.Primitive
	meta, err := toml.Decode(strings.TrimPrefix(string(data), "\ufeff"), &top)
	if err != nil {
		var at toml.ParseError
		if errors.As(err, &at) {
			l.complain(fmt.Sprintf("%s:%d", where, at.Position.Line), at.LastKey, at.Message)
			return
		}
		l.complain(where, "", err.Error())
		return
	}
	f := tomlFile{loader: l, name: where, data: data, meta: meta}
	f.table("", top)
	// The parser's tables are unordered: problems are sorted by line.
	slices.SortStableFunc(f.found, func(a, b at) int { return a.line - b.line })
	for _, found := range f.found {
		found.act(fmt.Sprintf("%s:%d", f.name, found.line))
	}
}

// tomlFile is one parsed file.
type tomlFile struct {
	*loader
	name  string
	data  []byte
	meta  toml.MetaData
	found []at
}

// at is the action for one line.
type at struct {
	line int
	act  func(where string)
}

// table handles the keys of one table; prefix is the key of the table and a dot.
func (f *tomlFile) table(prefix string, entries map[string]toml.Primitive) {
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		key, value := prefix+name, entries[name]
		line := f.line(value)
		if i := slices.IndexFunc(f.settings, func(s setting) bool { return s.key == key }); i >= 0 {
			f.setting(f.settings[i], line, value)
			continue
		}
		var inner map[string]toml.Primitive
		// For a value that is not a table, the parser returns no error and leaves the map nil.
		if f.isSection(key) && f.meta.PrimitiveDecode(value, &inner) == nil && inner != nil {
			f.table(key+".", inner)
			continue
		}
		what := "unknown key" + f.guess(key, func(k string) string { return k })
		if f.isSection(key) {
			what = "must be a table: [" + key + "]"
		}
		f.found = append(f.found, at{line, func(where string) { f.complain(where, key, what) }})
	}
}

func (f *tomlFile) isSection(key string) bool {
	return slices.ContainsFunc(f.settings, func(s setting) bool { return strings.HasPrefix(s.key, key+".") })
}

func (f *tomlFile) setting(s setting, line int, value toml.Primitive) {
	v, err := f.value(s.form, value)
	if entries, ok := v.([]map[string]any); ok && err == nil {
		for i, entry := range entries {
			line, certain := f.header(s.key, i, len(entries), line)
			var whereKey func(key string) string
			if certain {
				whereKey = f.keysAfter(line)
			}
			f.found = append(f.found, at{line, func(where string) { f.take(s, where, entry, whereKey) }})
		}
		return
	}
	f.found = append(f.found, at{line, func(where string) {
		if err != nil {
			f.complain(where, s.key, "must be "+s.form.String())
			return
		}
		f.take(s, where, v, f.keysAfter(line))
	}})
}

// keysAfter returns a function that finds the lines of the keys of the table at a line. The parser does not report them, so it
// searches the lines from there to the next table's header for one that assigns the key. If there is no such line, or several, it
// returns nothing.
func (f *tomlFile) keysAfter(line int) func(key string) string {
	return func(key string) string {
		assigns := regexp.MustCompile(`^[ \t]*(` + regexp.QuoteMeta(key) + `|"` + regexp.QuoteMeta(key) + `"|'` + regexp.QuoteMeta(key) + `')[ \t]*=`)
		found := 0
		for i, text := range bytes.Split(f.data, []byte("\n")) {
			switch number := i + 1; {
			case number <= line-1:
			case number > line && bytes.HasPrefix(bytes.TrimLeft(text, " \t"), []byte("[")):
				return f.place(found)
			case assigns.Match(text) && found != 0:
				return ""
			case assigns.Match(text):
				found = number
			}
		}
		return f.place(found)
	}
}

// place names a line; 0: none.
func (f *tomlFile) place(line int) string {
	if line == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d", f.name, line)
}

// value decodes a value in the form of a setting. The text of its error is not used.
func (f *tomlFile) value(form form, value toml.Primitive) (any, error) {
	switch form {
	case text:
		return decode[string](f.meta, value)
	case number:
		return decode[int64](f.meta, value)
	case boolean:
		return decode[bool](f.meta, value)
	case list:
		return decode[[]string](f.meta, value)
	case table:
		v, err := decode[map[string]string](f.meta, value)
		if err == nil && v.(map[string]string) == nil {
			err = errors.New("no table") // as above
		}
		return v, err
	default:
		v, err := decode[[]map[string]any](f.meta, value)
		if err == nil && slices.ContainsFunc(v.([]map[string]any), func(m map[string]any) bool { return m == nil }) {
			err = errors.New("no table") // as above
		}
		return v, err
	}
}

func decode[T any](meta toml.MetaData, value toml.Primitive) (any, error) {
	var v T
	err := meta.PrimitiveDecode(value, &v)
	return v, err
}

// line finds the line of a value. The parser reports lines only in errors, so line makes it fail.
func (f *tomlFile) line(value toml.Primitive) int {
	var at toml.ParseError
	if err := f.meta.PrimitiveDecode(value, new(refusal)); errors.As(err, &at) {
		return at.Position.Line
	}
	return 0
}

// header finds the line in which table i of n begins. The parser reports only that of the last one, so header searches the text. If
// the text does not contain n headers, because tables can be written in other ways, it returns the line of the last one and false
// for certain.
func (f *tomlFile) header(key string, i, n, last int) (line int, certain bool) {
	headers := regexp.MustCompile(`(?m)^[ \t]*\[\[[ \t]*["']?`+regexp.QuoteMeta(key)+`["']?[ \t]*\]\]`).FindAllIndex(f.data, -1)
	if len(headers) != n {
		return last, false
	}
	return 1 + bytes.Count(f.data[:headers[i][0]], []byte("\n")), true
}

// refusal fails to decode any value.
type refusal struct{}

func (*refusal) UnmarshalTOML(any) error { return errors.New("refused") }
