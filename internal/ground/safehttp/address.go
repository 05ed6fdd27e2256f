package safehttp

import (
	"bufio"
	_ "embed" // for the registries
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// The IANA special-purpose address registries, one block per line, and the other blocks that D6.4 excludes.
//
//go:embed special_addresses.txt
var specialAddresses string

// policy decides to which addresses connections may be made (D6.4).
type policy struct {
	special []netip.Prefix
	own     []netip.Addr
}

// newPolicy creates a policy that also rejects the service's own addresses.
func newPolicy(own []netip.Addr) (*policy, error) {
	p := &policy{}
	for _, addr := range own {
		p.own = append(p.own, addr.Unmap().WithZone(""))
	}
	lines := bufio.NewScanner(strings.NewReader(specialAddresses))
	for lines.Scan() {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("special_addresses.txt: %w", err)
		}
		p.special = append(p.special, prefix)
	}
	return p, lines.Err()
}

// Prefixes of IPv6 addresses that embed IPv4 addresses.
var (
	globalUnicast = netip.MustParsePrefix("2000::/3")
	nat64         = netip.MustParsePrefix("64:ff9b::/96")
	localNAT64    = netip.MustParsePrefix("64:ff9b:1::/48")
	sixToFour     = netip.MustParsePrefix("2002::/16")
	teredo        = netip.MustParsePrefix("2001::/32")
	thisNetwork   = netip.MustParsePrefix("0.0.0.0/8")
)

// allows reports whether a connection may be made to the address. An address that embeds another is judged by that one.
func (p *policy) allows(addr netip.Addr) bool {
	if !addr.IsValid() || addr.Zone() != "" {
		return false
	}
	addr = addr.Unmap()
	if slices.Contains(p.own, addr) {
		return false
	}
	if addr.Is4() {
		return !p.isSpecial(addr)
	}
	b := addr.As16()
	switch {
	case nat64.Contains(addr):
		return p.allows(inside(b, 12, 13, 14, 15))
	case localNAT64.Contains(addr):
		return p.allowsLocalNAT64(b)
	case sixToFour.Contains(addr):
		return p.allows(inside(b, 2, 3, 4, 5))
	case teredo.Contains(addr):
		client := netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]})
		return p.allows(client) && p.allows(inside(b, 4, 5, 6, 7))
	}
	return globalUnicast.Contains(addr) && !p.isSpecial(addr)
}

func (p *policy) isSpecial(addr netip.Addr) bool {
	return slices.ContainsFunc(p.special, func(prefix netip.Prefix) bool { return prefix.Contains(addr) })
}

// allowsLocalNAT64 reports whether an address of 64:ff9b:1::/48 is allowed. The position of its embedded address depends on
// the network, so that every position of RFC 6052 must hold an allowed address or zeros, and at least one an allowed
// address.
func (p *policy) allowsLocalNAT64(b [16]byte) bool {
	some := false
	for _, octets := range [][4]int{{6, 7, 9, 10}, {7, 9, 10, 11}, {9, 10, 11, 12}, {12, 13, 14, 15}} {
		inner := inside(b, octets[0], octets[1], octets[2], octets[3])
		if p.allows(inner) {
			some = true
		} else if !thisNetwork.Contains(inner) {
			return false
		}
	}
	return some
}

func inside(b [16]byte, i, j, k, l int) netip.Addr {
	return netip.AddrFrom4([4]byte{b[i], b[j], b[k], b[l]})
}
