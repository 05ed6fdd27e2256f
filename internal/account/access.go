package account

import "wayside/internal/mapdata"

// Who says who may use a page or an endpoint (issue 6). The table of roles in docs/roles.md is made of it.
type Who int

// Who may use something, from everybody to the fewest.
const (
	ForGuests            Who = iota // anybody, signed in or not
	ForTokens                       // whoever holds the feed's push token, which is in the address
	ForAccounts                     // whoever is signed in
	ForOwners                       // whose thing the address names; to others there is no such thing
	ForOwnersAndCurators            // its owner, curators and admins
	ForCurators                     // curators and admins
	ForAdmins
)

// String names it as the table of roles does.
func (w Who) String() string {
	switch w {
	case ForGuests:
		return "guest"
	case ForTokens:
		return "push token"
	case ForAccounts:
		return "account"
	case ForOwners:
		return "owner"
	case ForOwnersAndCurators:
		return "owner, curator"
	case ForCurators:
		return "curator"
	case ForAdmins:
		return "admin"
	}
	return "nobody"
}

// SignedIn says whether it takes a session.
func (w Who) SignedIn() bool { return w >= ForAccounts }

// Admit lets an account in by its role; nil is a guest. Whether a thing is the account's own is the use case's to say. It
// fails with mapdata.ErrUnauthenticated or mapdata.ErrForbidden.
func (w Who) Admit(a *mapdata.Account) error {
	switch {
	case !w.SignedIn():
		return nil
	case a == nil:
		return mapdata.ErrUnauthenticated
	case w == ForCurators && !a.MayReview():
		return mapdata.Describe(mapdata.ErrForbidden, "Only curators may do this.")
	case w == ForAdmins && a.Role != mapdata.Admin:
		return mapdata.Describe(mapdata.ErrForbidden, "Only admins may do this.")
	}
	return nil
}
