package mapdata

// Reason says why something was refused or failed, in more detail than an error's kind, an attempt's outcome or a row's
// code. The pages have a message for each reason in every language. Empty: there is no more detail. An attempt's reason
// is stored.
type Reason string

// Reasons why a fetch failed or a push was refused, in addition to its outcome.
const (
	ReasonNoAddress        Reason = "no_address"        // dns_error: the name has no address
	ReasonNoNameServer     Reason = "no_name_server"    // dns_error: no name server answered
	ReasonUnreachable      Reason = "unreachable"       // connection_error: no connection was made
	ReasonBroken           Reason = "broken"            // connection_error: the connection broke, or the server did not speak HTTP
	ReasonHeaders          Reason = "headers"           // too_large: the response's headers
	ReasonBody             Reason = "body"              // too_large: the whole body
	ReasonRow              Reason = "row"               // too_large: one row
	ReasonRows             Reason = "rows"              // too_large: too many
	ReasonCompression      Reason = "compression"       // parse_error: it cannot be decompressed
	ReasonWrongName        Reason = "wrong_name"        // tls_error: the certificate is another host's
	ReasonUnknownAuthority Reason = "unknown_authority" // tls_error: the certificate's authority is unknown
	ReasonExpired          Reason = "expired"           // tls_error: the certificate has expired, or is not valid yet
	ReasonBadCertificate   Reason = "bad_certificate"   // tls_error: the certificate is not for servers
	ReasonNoTLS            Reason = "no_tls"            // tls_error: the port does not speak TLS
	ReasonTooManyHops      Reason = "too_many_hops"     // redirect_error
	ReasonNoLocation       Reason = "no_location"       // redirect_error: there is no Location
	ReasonBadLocation      Reason = "bad_location"      // redirect_error: Location is not a URL
)

// Reasons lists the reasons of attempts by outcome. An attempt may also have the code of an address rule of safehttp:
// for blocked_address the feed's own address violates it, for redirect_error one that it was redirected to.
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
