package mapdata

// Reason says why something was refused or failed, finer than an error's kind, an attempt's outcome or a row's code does:
// for the pages, which say it in the reader's language. Empty: there is nothing to add. An attempt's reason is stored.
type Reason string

// Why a fetch failed, or a push was refused, beside its outcome.
const (
	ReasonNoAddress        Reason = "no_address"        // dns_error: the name has none
	ReasonNoNameServer     Reason = "no_name_server"    // dns_error: nobody could be asked
	ReasonUnreachable      Reason = "unreachable"       // connection_error: no connection was made
	ReasonBroken           Reason = "broken"            // connection_error: it broke, or spoke no HTTP
	ReasonHeaders          Reason = "headers"           // too_large: those of the answer
	ReasonBody             Reason = "body"              // too_large: all of it
	ReasonRow              Reason = "row"               // too_large: one row
	ReasonRows             Reason = "rows"              // too_large: too many
	ReasonCompression      Reason = "compression"       // parse_error: it cannot be decompressed
	ReasonWrongName        Reason = "wrong_name"        // tls_error: the certificate is another host's
	ReasonUnknownAuthority Reason = "unknown_authority" // tls_error: nobody known vouches for it
	ReasonExpired          Reason = "expired"           // tls_error: it is, or is not valid yet
	ReasonBadCertificate   Reason = "bad_certificate"   // tls_error: it is not for servers
	ReasonNoTLS            Reason = "no_tls"            // tls_error: the port speaks something else
	ReasonTooManyHops      Reason = "too_many_hops"     // redirect_error
	ReasonNoLocation       Reason = "no_location"       // redirect_error: it leads nowhere
	ReasonBadLocation      Reason = "bad_location"      // redirect_error: it leads to what is no address
)

// Reasons lists the reasons of attempts by their outcome. An attempt may also have the code of the rule that an address broke,
// as safehttp has them: blocked_address of the feed's own, redirect_error of one on the way.
func Reasons() map[Outcome][]Reason {
	return map[Outcome][]Reason{
		OutcomeDNSError:        {ReasonNoAddress, ReasonNoNameServer},
		OutcomeConnectionError: {ReasonUnreachable, ReasonBroken},
		OutcomeTooLarge:        {ReasonHeaders, ReasonBody, ReasonRow, ReasonRows},
		OutcomeParseError:      {ReasonCompression},
		OutcomeTLSError:        {ReasonWrongName, ReasonUnknownAuthority, ReasonExpired, ReasonBadCertificate, ReasonNoTLS},
		OutcomeRedirectError:   {ReasonTooManyHops, ReasonNoLocation, ReasonBadLocation},
	}
}
