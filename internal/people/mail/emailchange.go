package mail

import (
	"net/url"

	"wayside/internal/ground/mapdata"
)

// changesAddress reports whether an e-mail asks for the confirmation of a change of address.
func changesAddress(kind mapdata.EmailKind) bool {
	return kind == mapdata.EmailChangeOld || kind == mapdata.EmailChangeNew
}

// emailChange asks an address to confirm the change of an account's address. Only the e-mail to the account's address
// contains the new one, and how to end sessions of strangers.
func (d *draft) emailChange(kind mapdata.EmailKind) {
	d.paragraph(string(kind) + ".text")
	d.button("email_change.button", "email_change.link", "/auth/email-change?token="+url.QueryEscape(d.values["token"]))
	d.paragraph("email_change.both")
	d.small(string(kind) + ".ignore")
	if kind == mapdata.EmailChangeOld {
		d.button("security.button", "", "/account#sessions")
	}
	d.small("foot.service")
}
