package safehttp

import (
	"net/http"
	"strings"
)

// NextLink returns the target of the Link header with rel="next" (RFC 8288); empty: there is none.
func NextLink(header http.Header) string {
	for _, link := range header.Values("Link") {
		for link != "" {
			_, rest, found := strings.Cut(link, "<")
			if !found {
				break
			}
			target, params, found := strings.Cut(rest, ">")
			if !found {
				break
			}
			own := params
			if at := strings.Index(params, ",<"); at >= 0 {
				own = params[:at]
			} else if at := strings.Index(params, ", <"); at >= 0 {
				own = params[:at]
			}
			if relNext(own) {
				return strings.TrimSpace(target)
			}
			link = params[len(own):]
		}
	}
	return ""
}

// relNext reports whether the parameters of a link contain rel=next.
func relNext(params string) bool {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(param, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "rel") {
			continue
		}
		for rel := range strings.FieldsSeq(strings.Trim(strings.TrimSpace(value), `"`)) {
			if strings.EqualFold(rel, "next") {
				return true
			}
		}
	}
	return false
}

// Resolve returns the URL of a reference in the answer of this one, validated by the same rules (D6.5).
func (u *URL) Resolve(reference string) (*URL, error) {
	if reference == "" || strings.ContainsFunc(reference, forbiddenRune) {
		return nil, refuse("bad_characters", "must hold no white space, no control or invisible characters and no backslash")
	}
	if end := strings.IndexAny(reference, ":/?#"); end < 0 || reference[end] != ':' {
		relative, err := u.parsed.Parse(reference)
		if err != nil {
			return nil, refuse("bad_url", "must be an address, relative or not")
		}
		reference = relative.String()
	}
	return CheckURL(reference)
}
