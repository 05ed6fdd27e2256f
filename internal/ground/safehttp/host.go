package safehttp

import (
	_ "embed" // for tlds.txt
	"slices"
	"strings"

	"golang.org/x/net/idna"
)

//go:embed tlds.txt
var delegated string

// hostRules is IDNA 2008 as browsers look names up (UTS 46, non-transitional): wide digits, ideographic full stops and
// capitals are mapped first, so that the name that is checked is the name that is looked up.
var hostRules = idna.New(
	idna.MapForLookup(), idna.Transitional(false), idna.BidiRule(), idna.ValidateLabels(true), idna.CheckHyphens(false),
	idna.CheckJoiners(true), idna.StrictDomainName(true), idna.VerifyDNSLength(true),
)

// Lengths of a name and its labels in the DNS.
const (
	maxName  = 253
	maxLabel = 63
)

// CheckHost validates a public host name and returns its A-labels, without a trailing dot (D6.5).
func CheckHost(name string) (string, error) {
	if strings.Contains(name, "%") {
		return "", refuse("bad_host", "must name its host without percent-encoding")
	}
	host, err := hostRules.ToASCII(name)
	host = strings.TrimSuffix(host, ".")
	labels := strings.Split(host, ".")
	last := labels[len(labels)-1]
	switch {
	case isNumber(last):
		return "", refuse("ip_literal", "must name a host: an IP address is none")
	case err != nil || len(host) > maxName || slices.ContainsFunc(labels, badLabel):
		return "", refuse("bad_host", "must name a host by letters, digits and hyphens, such as data.example.org")
	case len(labels) < 2 || !isDelegated(last):
		return "", refuse("not_public_host", "must name a host that everybody can reach, below a top-level domain of the Internet")
	}
	return host, nil
}

// isNumber reports whether some parser reads a name that ends in this label as an IPv4 address: decimal, octal or
// hexadecimal, whole or in parts.
func isNumber(label string) bool {
	digits, set := label, "0123456789"
	if hex, ok := strings.CutPrefix(strings.ToLower(label), "0x"); ok {
		digits, set = hex, "0123456789abcdef"
	}
	return label != "" && strings.Trim(digits, set) == ""
}

func badLabel(label string) bool {
	return label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' ||
		strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") != ""
}

// isDelegated reports whether a label is a delegated top-level domain.
func isDelegated(label string) bool {
	return strings.Contains(delegated, "\n"+label+"\n")
}
