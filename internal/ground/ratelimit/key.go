package ratelimit

import (
	"encoding/binary"
	"net/netip"

	"wayside/internal/ground/mapdata"
)

// Class separates the buckets of one caller by their purpose.
type Class uint8

// The classes in use. Zero is not a class.
const (
	Reads         Class = iota + 1 // requests of the read API (D4.12)
	Manage                         // requests of the management API (D5.9)
	Pushes                         // pushes with one token (D7.3)
	PushEntities                   // rows pushed with one token (D7.3)
	UnknownTokens                  // pushes with unknown tokens (D7.5)
	SignIns                        // sign-in e-mails asked for (D11.1)
	Verifies                       // links and codes tried (D11.1)
	Votes                          // confirms and disputes (D9.1)
	RefusedPushes                  // pushes with one token that were refused for their rows, after they were read
	Streams                        // streams that are open, which are counted and not rated
	Pairings                       // screens that ask to be paired (D11.3)
	PairingPolls                   // questions of such screens, and of one of them
	PairingCodes                   // wrong codes of screens
	Checks                         // feeds that are tried before they are registered
	Pages                          // pages for people that guests may read
	Routes                         // routes, and tables by their size (D15.23)
	Reports                        // drivers' reports (D17.37)
	Resumptions                    // drives that continue one that was lost with its node (D15.21)
	ResumedIDs                     // those that continue the same one
	HeldBytes                      // bytes that requests hold, which are counted and not rated
	Refusals                       // refusals by any limit
)

// Key names one bucket: up to 120 bits of the owner's identity, and the class above them.
type Key struct{ high, low uint64 }

// AppendBytes appends the 16 bytes of a key, for a keyed hash: they may contain a client's address.
func (k Key) AppendBytes(dst []byte) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, k.high), k.low)
}

const classShift = 56

func newKey(class Class, high, low uint64) Key {
	return Key{high: high, low: low&(1<<classShift-1) | uint64(class)<<classShift}
}

// ClientKey returns the name of the bucket of a client address: an IPv4 address, also one that is mapped into IPv6, or the /64 of
// an IPv6 address, without a zone (D4.12). All invalid addresses share one bucket.
func ClientKey(class Class, addr netip.Addr) Key {
	addr = addr.Unmap()
	bytes := addr.As16() // an IPv4 address becomes ::ffff:a.b.c.d, which no /64 is equal to
	if addr.Is4() {
		return newKey(class, 0, binary.BigEndian.Uint64(bytes[8:]))
	}
	return newKey(class, binary.BigEndian.Uint64(bytes[:8]), 0)
}

// AccountKey returns the name of the bucket of an account.
func AccountKey(class Class, id mapdata.AccountID) Key {
	return newKey(class, binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:]))
}

// HashKey returns the name of the bucket of anything with the given SHA-256, such as a token; the first 16 bytes are enough. A
// shorter hash returns the name for no hash at all.
func HashKey(class Class, hash []byte) Key {
	if len(hash) < 16 {
		return newKey(class, 0, 0)
	}
	return newKey(class, binary.BigEndian.Uint64(hash[:8]), binary.BigEndian.Uint64(hash[8:16]))
}
