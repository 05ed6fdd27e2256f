package account

import "wayside/internal/ground/mapdata"

// Who is the class of callers that may use a page or endpoint (issue 6). The table in docs/roles.md is generated from
// it.
type Who int

// Classes of callers, from the widest to the narrowest.
const (
	ForGuests            Who = iota // everyone, signed in or not
	ForTokens                       // holders of the feed's push token, which is in the URL
	ForScreens                      // every signed-in account, on a paired screen too
	ForAuthors                      // the account that created the object in the URL, on a paired screen too; others get 404
	ForAccounts                     // every signed-in account, but not on a paired screen, like all that follow
	ForOwners                       // the owner of the resource in the URL, for a feed its maintainers too; others get 404
	ForOwnersAlone                  // the owner of the feed in the URL; its maintainers get 403, others 404
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
	case ForScreens, ForAccounts:
		return "account"
	case ForAuthors:
		return "author"
	case ForOwners:
		return "owner"
	case ForOwnersAlone:
		return "owner alone"
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
func (w Who) SignedIn() bool { return w >= ForScreens }

// Screens reports whether the session of a paired screen is enough (D11.3).
func (w Who) Screens() bool { return w <= ForAuthors }

// Admit checks a session's scope and its account's role; both are nil for a guest. Ownership is checked by the use cases. It
// fails with mapdata.ErrUnauthenticated, mapdata.ErrSignInRequired or mapdata.ErrForbidden.
func (w Who) Admit(a *mapdata.Account, s *mapdata.Session) error {
	switch {
	case !w.SignedIn():
		return nil
	case a == nil:
		return mapdata.ErrUnauthenticated
	case !w.Screens() && s != nil && s.Scope == mapdata.ScopeScreen:
		return mapdata.Explain(mapdata.ErrSignInRequired, "screen_only", "A paired screen may not do this. Sign in with your e-mail address or a passkey.")
	case w == ForCurators && !a.MayReview():
		return mapdata.Describe(mapdata.ErrForbidden, "Only curators may do this.")
	case w == ForAdmins && a.Role != mapdata.Admin:
		return mapdata.Describe(mapdata.ErrForbidden, "Only admins may do this.")
	}
	return nil
}
