package session

import (
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/crypto/chacha20poly1305"
)

// IDKeySize is the length of the key that seals ids, in bytes.
const IDKeySize = chacha20poly1305.KeySize

// What is in an id. It begins with a nonce of 192 random bits, of which D15.21 asks for 128; the rest is encrypted and authenticated.
const (
	nodeBytes    = 8 // of Node.Instance
	addressBytes = 16 + 2
	idPlainBytes = nodeBytes + addressBytes + 4
	idBytes      = chacha20poly1305.NonceSizeX + idPlainBytes + chacha20poly1305.Overhead
)

// IDLength is the length of every id.
const IDLength = (idBytes*8 + 5) / 6

// idLifetime is how long after its beginning a session is still asked for: nobody drives longer without a pause of ten minutes.
const idLifetime = 7 * 24 * time.Hour

// Node is a process that leads drivers.
type Node struct {
	Address  netip.AddrPort  // where other nodes reach it; zero: they do not
	Instance [nodeBytes]byte // random for each process, so that a node that was started again is another one
}

// ID is what a session's id says to those who have the key.
type ID struct {
	Node  Node
	Begun time.Time // to the second
}

// IDs makes and reads the ids of sessions: each names the node that has the session, and says nothing without the key. All nodes
// of a service have the same key.
type IDs struct {
	aead     cipher.AEAD
	instance [nodeBytes]byte
	address  func() netip.AddrPort
}

// NewIDs makes IDs of this process. address is where other nodes reach it, zero while that is unknown; nil: they never do.
func NewIDs(key []byte, address func() netip.AddrPort) (*IDs, error) {
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return nil, fmt.Errorf("a key has %d bytes, this one has %d", IDKeySize, len(key))
	}
	if address == nil {
		address = func() netip.AddrPort { return netip.AddrPort{} }
	}
	ids := &IDs{aead: aead, address: address}
	_, _ = rand.Read(ids.instance[:]) // never fails
	return ids, nil
}

// newLoneIDs makes IDs that no other process reads.
func newLoneIDs() *IDs {
	var key [IDKeySize]byte
	_, _ = rand.Read(key[:]) // never fails
	ids, err := NewIDs(key[:], nil)
	if err != nil {
		panic(err) // cannot be: the key has its size
	}
	return ids
}

// Node returns this process.
func (ids *IDs) Node() Node { return Node{ids.address(), ids.instance} }

// make returns a new id.
func (ids *IDs) make(now time.Time) string {
	var buffer [idBytes]byte
	nonce := buffer[:chacha20poly1305.NonceSizeX]
	_, _ = rand.Read(nonce) // never fails
	node := ids.Node()
	ip := node.Address.Addr().As16()
	if !node.Address.IsValid() {
		ip = [16]byte{}
	}
	plain := append(make([]byte, 0, idPlainBytes), node.Instance[:]...)
	plain = append(plain, ip[:]...)
	plain = binary.BigEndian.AppendUint16(plain, node.Address.Port())
	plain = binary.BigEndian.AppendUint32(plain, uint32(now.Unix())) //nolint:gosec // until the year 2106
	return base64.RawURLEncoding.EncodeToString(ids.aead.Seal(nonce, nonce, plain, nil))
}

// Read returns what an id says, and whether it is one that a node of this service made in the last seven days.
func (ids *IDs) Read(id string, now time.Time) (ID, bool) {
	if len(id) != IDLength {
		return ID{}, false
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(id)
	if err != nil {
		return ID{}, false
	}
	plain, err := ids.aead.Open(nil, sealed[:chacha20poly1305.NonceSizeX], sealed[chacha20poly1305.NonceSizeX:], nil)
	if err != nil {
		return ID{}, false
	}
	var read ID
	copy(read.Node.Instance[:], plain)
	plain = plain[nodeBytes:]
	if ip := netip.AddrFrom16([16]byte(plain)).Unmap(); !ip.IsUnspecified() {
		read.Node.Address = netip.AddrPortFrom(ip, binary.BigEndian.Uint16(plain[16:]))
	}
	read.Begun = time.Unix(int64(binary.BigEndian.Uint32(plain[addressBytes:])), 0)
	return read, now.Sub(read.Begun).Abs() < idLifetime
}

// Owner returns the other node that an id names; false: it names this one, none that can be reached, or it is no id.
func (h *Hub) Owner(id string) (netip.AddrPort, bool) {
	read, ok := h.IDs.Read(id, h.Now())
	if !ok || !read.Node.Address.IsValid() || read.Node.Instance == h.IDs.instance || read.Node.Address == h.IDs.address() {
		return netip.AddrPort{}, false // a process at this node's own address was this node before it was started again
	}
	return read.Node.Address, true
}
