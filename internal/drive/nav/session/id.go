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

// The parts of an id. It begins with a nonce of 192 random bits, of which D15.21 requires 128; the rest is encrypted and
// authenticated.
const (
	nodeBytes    = 8 // of Node.Instance
	addressBytes = 16 + 2
	idPlainBytes = nodeBytes + addressBytes + 4
	idBytes      = chacha20poly1305.NonceSizeX + idPlainBytes + chacha20poly1305.Overhead
)

// IDLength is the length of every id.
const IDLength = (idBytes*8 + 5) / 6

// idLifetime is how long an id is valid. No driver goes on for longer without a pause of ten minutes, which ends the
// session.
const idLifetime = 7 * 24 * time.Hour

// Node is a process that leads drivers.
type Node struct {
	Address  netip.AddrPort  // where other nodes reach it; zero if they cannot
	Instance [nodeBytes]byte // random for each process, so that a restarted node counts as another node
}

// ID is the content of a session's id.
type ID struct {
	Node  Node
	Begun time.Time // with a resolution of one second
}

// IDs makes and reads the ids of sessions. Each id names the node that has the session, and is unreadable without the
// key, which all nodes of a service share.
type IDs struct {
	aead     cipher.AEAD
	instance [nodeBytes]byte
	address  func() netip.AddrPort
}

// NewIDs returns IDs for this process. address returns where other nodes reach the process, or zero while that is
// unknown; a nil address means that they never do.
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

// newLoneIDs returns IDs with a random key, which no other process can read.
func newLoneIDs() *IDs {
	var key [IDKeySize]byte
	_, _ = rand.Read(key[:]) // never fails
	ids, err := NewIDs(key[:], nil)
	if err != nil {
		panic(err) // impossible, because the key has the right size
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

// Read decrypts an id. It returns false unless a node of this service made the id in the last seven days.
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

// Owner returns the address of the other node that an id names. It returns false if the id is invalid, or names this
// node or one that cannot be reached.
func (h *Hub) Owner(id string) (netip.AddrPort, bool) {
	read, ok := h.IDs.Read(id, h.Now())
	if !ok || !read.Node.Address.IsValid() || read.Node.Instance == h.IDs.instance || read.Node.Address == h.IDs.address() {
		return netip.AddrPort{}, false // a process at this node's own address was this node before its restart
	}
	return read.Node.Address, true
}
