package cli

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"

	"rsc.io/qr"
)

// lanAddress returns the address of this machine in its network: the one from which it would reach others, or else the first
// private one.
func lanAddress(ctx context.Context) (netip.Addr, error) {
	// Connecting a datagram socket sends nothing; the system only chooses the route. The address is one of documentation (RFC 5737).
	if conn, err := new(net.Dialer).DialContext(ctx, "udp4", "192.0.2.1:9"); err == nil {
		local, ok := conn.LocalAddr().(*net.UDPAddr)
		if err := conn.Close(); err == nil && ok && !local.IP.IsLoopback() && !local.IP.IsUnspecified() {
			return local.AddrPort().Addr().Unmap(), nil
		}
	}
	interfaces, err := net.InterfaceAddrs()
	if err != nil {
		return netip.Addr{}, err
	}
	for _, a := range interfaces {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil && prefix.Addr().Is4() && prefix.Addr().IsPrivate() {
			return prefix.Addr(), nil
		}
	}
	return netip.Addr{}, errors.New("this machine has no address in a network: without --lan the demo runs for itself alone")
}

// phoneText describes how a phone opens the demo, with a QR code at a terminal; empty if it cannot.
func (d *demoRun) phoneText() string {
	if !d.lan {
		return ""
	}
	const text = "\nOn a phone in the same network, open the same address"
	drawn, err := terminalQR(d.base + "/?drive=demo")
	if err != nil || !isTerminal(d.stdout) {
		return text + ".\n"
	}
	return text + ":\n\n" + drawn
}

// quietModules is the margin that scanners of QR codes need.
const quietModules = 2

// terminalQR draws a QR code for a terminal, two modules to a character, black on white whatever the terminal's colours are.
func terminalQR(text string) (string, error) {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return "", err
	}
	const blackOnWhite, reset = "\x1b[30;47m", "\x1b[0m"
	var out strings.Builder
	for y := -quietModules; y < code.Size+quietModules; y += 2 {
		out.WriteString("  " + blackOnWhite)
		for x := -quietModules; x < code.Size+quietModules; x++ {
			switch upper, lower := code.Black(x, y), code.Black(x, y+1); {
			case upper && lower:
				out.WriteString("█")
			case upper:
				out.WriteString("▀")
			case lower:
				out.WriteString("▄")
			default:
				out.WriteString(" ")
			}
		}
		out.WriteString(reset + "\n")
	}
	return out.String(), nil
}
