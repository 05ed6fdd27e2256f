package account

import "wayside/internal/mapdata"

// Who is the class of callers that may use a page or endpoint (issue 6). The table in docs/roles.md is generated from it.
type Who int

// Classes of callers, from the widest to the narrowest.
const (
	ForGuests            Who = iota // everyone, signed in or not
	ForTokens                       // holders of the feed's push token, which is in the URL
	ForAccounts                     // every signed-in account
	ForOwners                       // the owner of the resource in the URL; others get 404
	ForOwnersAndCurators            // the owner, curators and admins
	ForCurators                     // curators and admins
	ForAdmins
)

// String returns the name in the table of roles.
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

// SignedIn reports whether a session is required.
func (w Who) SignedIn() bool { return w >= ForAccounts }

// Admit checks an account's role; nil is a guest. Ownership is checked by the use cases. It fails with
// mapdata.ErrUnauthenticated or mapdata.ErrForbidden.
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
