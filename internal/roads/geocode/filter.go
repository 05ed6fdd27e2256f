package geocode

import (
	"slices"
	"strings"
)

// Filter selects the kinds and layers that may be results. The zero value selects everything.
type Filter struct {
	Layers uint16 // bits of layers; 0: all
	Tags   []TagFilter
}

// TagFilter is an osm_tag parameter of Photon. Something passes if it has at least one wanted tag, or there is none in
// the filter, and if it has no unwanted tag.
type TagFilter struct {
	Key, Value string // either may be empty
	Not        bool   // the tag is unwanted
	NotValue   bool   // the key with any other value is wanted
}

func (f *Filter) allows(l Layer) bool { return f.Layers == 0 || f.Layers&(1<<l) != 0 }

// kinds appends for each kind whether it may be a result.
func (f *Filter) kinds(dst []bool, all []indexKind) []bool {
	for i := range all {
		dst = append(dst, f.allowsKind(&all[i]))
	}
	return dst
}

// wantsTags reports whether the filter asks for tags, and does not only leave some out.
func (f *Filter) wantsTags() bool {
	return slices.ContainsFunc(f.Tags, func(t TagFilter) bool { return !t.Not })
}

func (f *Filter) allowsKind(k *indexKind) bool {
	wanted, any := false, false
	for i := range f.Tags {
		t := &f.Tags[i]
		key := t.Key == "" || k.key == t.Key
		value := t.Value == "" || k.value == t.Value
		switch {
		case t.Not:
			if key && value {
				return false
			}
		case t.NotValue:
			any = true
			wanted = wanted || key && !value
		default:
			any = true
			wanted = wanted || key && value
		}
	}
	return wanted || !any
}

// ParseTagFilter parses key:value, key, :value, !key:value, !key, !:value, key:!value and :!value. It returns false for
// anything else.
func ParseTagFilter(text string) (t TagFilter, ok bool) {
	if len(text) > 0 && text[0] == '!' {
		t.Not, text = true, text[1:]
	}
	key, value, _ := strings.Cut(text, ":")
	if len(value) > 0 && value[0] == '!' {
		if t.Not {
			return t, false
		}
		t.NotValue, value = true, value[1:]
		if key == "" { // :!value excludes everything with the value
			t.NotValue, t.Not = false, true
		}
	}
	t.Key, t.Value = key, value
	return t, (key != "" || value != "") && (value != "" || !t.NotValue)
}
