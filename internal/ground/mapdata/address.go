package mapdata

import (
	"net/mail"
	"strings"
)

// ParseEmail normalizes an address to the form that is stored and compared: lower case, no display name, ASCII. It
// rejects quoted local parts and address literals, because mail providers do not issue them and they need escaping
// elsewhere.
func ParseEmail(text string) (string, error) {
	text = strings.TrimSpace(text)
	local, domain, _ := strings.Cut(text, "@")
	parsed, err := mail.ParseAddress(text)
	if err != nil || parsed.Address != text || parsed.Name != "" || // such as <a@b.example> or "A <a@b.example>"
		len(text) > 254 || len(local) > 64 || strings.ContainsAny(local, "\"\\(),:;<>[] ") || !domainName(domain) || !ascii(local) {
		return "", &InvalidError{Fields: []FieldError{
			{Field: "email", Code: "invalid_email", Message: "must be an e-mail address such as you@example.org"},
		}}
	}
	return strings.ToLower(text), nil
}

func domainName(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") {
			return false
		}
		for _, b := range []byte(label) {
			if b != '-' && (b < '0' || b > '9') && (b < 'A' || b > 'Z') && (b < 'a' || b > 'z') {
				return false
			}
		}
	}
	return true
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}
