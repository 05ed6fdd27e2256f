package safehttp

import (
	"net/netip"
	"testing"

	"code.dny.dev/ssrf"
)

func testPolicy(t testing.TB, own ...netip.Addr) *policy {
	t.Helper()
	p, err := newPolicy(own)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPolicy(t *testing.T) {
	tests := []struct {
		name    string
		allowed []string
		refused []string
	}{
		{"global", []string{"8.8.8.8", "1.0.0.1", "93.184.216.34", "223.255.255.255", "2606:4700::1111", "2a00:1450:4001:800::200e", "2001:200::1", "3fff:1000::1"}, nil},
		{"this host", nil, []string{"0.0.0.0", "0.1.2.3", "::", "127.0.0.1", "127.255.255.254", "::1"}},
		{"private", nil, []string{"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "100.127.255.255", "fc00::1", "fd12:3456::1"}},
		{"beside private", []string{"9.255.255.255", "11.0.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "100.63.255.255", "100.128.0.0"}, nil},
		{"link local", nil, []string{"169.254.169.254", "fe80::1", "fe80::1%eth0", "febf::1", "fec0::1"}},
		{"multicast", nil, []string{"224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1"}},
		{"reserved", nil, []string{"240.0.0.1", "255.255.255.255", "4000::1", "1000::1", "e000::1", "::2", "100::1", "100:0:0:1::1", "5f00::1"}},
		{"documentation and benchmarks", nil, []string{"192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "198.19.255.255", "2001:db8::1", "3fff::1", "3fff:fff::1", "2001:2::1"}},
		{"protocol assignments", nil, []string{"192.0.0.1", "192.0.0.9", "192.0.0.10", "192.0.0.170", "192.31.196.1", "192.52.193.1", "192.88.99.1", "192.88.99.2", "192.175.48.1", "2001:1::1", "2001:1::3", "2001:3::1", "2001:4:112::1", "2001:10::1", "2001:20::1", "2001:30::1", "2620:4f:8000::1"}},
		{"Azure", []string{"168.63.129.15", "168.63.129.17"}, []string{"168.63.129.16", "::ffff:168.63.129.16"}},
		{"mapped", []string{"::ffff:8.8.8.8"}, []string{"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0:0"}},
		{"compatible and translated", nil, []string{"::8.8.8.8", "::127.0.0.1", "::ffff:0:8.8.8.8", "::ffff:0:127.0.0.1"}},
		{"NAT64", []string{"64:ff9b::8.8.8.8"}, []string{"64:ff9b::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b::", "64:ff9b::168.63.129.16", "64:ff9b:0:1::8.8.8.8"}},
		{
			"local NAT64, wherever it holds the inner address",
			[]string{"64:ff9b:1::8.8.8.8", "64:ff9b:1:808:8:800::"},
			[]string{"64:ff9b:1::127.0.0.1", "64:ff9b:1::", "64:ff9b:1:7f00:0:100::", "64:ff9b:1:a00:0:100:808:808", "64:ff9b:1:a9fe:a9:fe00::", "64:ff9b:1:a:0:1::", "64:ff9b:2::8.8.8.8"},
		},
		{"6to4", []string{"2002:808:808::1"}, []string{"2002:7f00:1::1", "2002:a00:1::", "2002:a9fe:a9fe::1", "2002:c0a8:101::1", "2002::1"}},
		{"Teredo", []string{"2001:0:4136:e378:8000:63bf:f7f7:f7f7"}, []string{"2001:0:4136:e378:8000:63bf:80ff:fefe", "2001:0:4136:e378:8000:63bf:f5ff:fffe", "2001:0:a00:1:8000:63bf:f7f7:f7f7", "2001::1"}},
	}
	p := testPolicy(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, text := range tt.allowed {
				if !p.allows(netip.MustParseAddr(text)) {
					t.Errorf("%s is refused", text)
				}
			}
			for _, text := range tt.refused {
				if p.allows(netip.MustParseAddr(text)) {
					t.Errorf("%s is allowed", text)
				}
			}
		})
	}
	if p.allows(netip.Addr{}) {
		t.Error("no address is allowed")
	}
}

func TestPolicyRejectsOwnAddresses(t *testing.T) {
	p := testPolicy(t, netip.MustParseAddr("8.8.4.4"), netip.MustParseAddr("2606:4700::1"))
	for _, text := range []string{"8.8.4.4", "::ffff:8.8.4.4", "64:ff9b::8.8.4.4", "2002:808:404::1", "2606:4700::1"} {
		if p.allows(netip.MustParseAddr(text)) {
			t.Errorf("%s is allowed", text)
		}
	}
	for _, text := range []string{"8.8.8.8", "2606:4700::2"} {
		if !p.allows(netip.MustParseAddr(text)) {
			t.Errorf("%s is refused", text)
		}
	}
}

// FuzzPolicy compares with another implementation: an address that it denies is rejected here too, unless it embeds an
// address, which the other implementation ignores.
func FuzzPolicy(f *testing.F) {
	p := testPolicy(f)
	for _, text := range []string{"8.8.8.8", "10.0.0.1", "2606:4700::1111", "2002:7f00:1::1", "64:ff9b::a00:1"} {
		f.Add(netip.MustParseAddr(text).AsSlice())
	}
	other := ssrf.New(ssrf.WithAnyPort(), ssrf.WithNetworks("tcp4", "tcp6"))
	carriers := []netip.Prefix{nat64, localNAT64, sixToFour, teredo}
	f.Fuzz(func(t *testing.T, b []byte) {
		addr, ok := netip.AddrFromSlice(b)
		if !ok || !p.allows(addr) {
			return
		}
		addr = addr.Unmap()
		for _, carrier := range carriers {
			if carrier.Contains(addr) {
				return
			}
		}
		network := "tcp6"
		if addr.Is4() {
			network = "tcp4"
		}
		if err := other.Safe(network, netip.AddrPortFrom(addr, 443).String(), nil); err != nil {
			t.Errorf("%s is allowed here, but: %v", addr, err)
		}
	})
}
