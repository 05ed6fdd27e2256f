package mapdata

// Reason is the detailed cause of a refusal or a failure, beyond an error's kind, an attempt's outcome or a row's code.
// The pages have a message for each reason in every language. Empty: there is no more detail. An attempt's reason is
// stored.
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
	ReasonItem             Reason = "item"              // too_large: one item of a document in another format (D17.15)
	ReasonItems            Reason = "items"             // too_large: too many of them
	ReasonXML              Reason = "xml"               // parse_error: the document is not well-formed
	ReasonJSON             Reason = "json"              // parse_error: likewise
	ReasonCSV              Reason = "csv"               // parse_error: likewise
	ReasonDTD              Reason = "dtd"               // parse_error: the document has a document type declaration, or its own entities
	ReasonTooDeep          Reason = "too_deep"          // parse_error: more levels than the limit
	ReasonEncoding         Reason = "encoding"          // parse_error: an unsupported encoding
	ReasonFormat           Reason = "format"            // parse_error: well-formed, but not a document of the bridge's format
	ReasonStatusCode       Reason = "status_code"       // parse_error: OCPI's own status is a failure
	ReasonPages            Reason = "pages"             // parse_error: the next page is on another host, came before, or pages do not end; timeout: all pages together
	ReasonWrongName        Reason = "wrong_name"        // tls_error: the certificate is another host's
	ReasonUnknownAuthority Reason = "unknown_authority" // tls_error: the certificate's authority is unknown
	ReasonExpired          Reason = "expired"           // tls_error: the certificate has expired, or is not valid yet
	ReasonBadCertificate   Reason = "bad_certificate"   // tls_error: the certificate is not for servers
	ReasonNoTLS            Reason = "no_tls"            // tls_error: the port does not speak TLS
	ReasonTooManyHops      Reason = "too_many_hops"     // redirect_error
	ReasonNoLocation       Reason = "no_location"       // redirect_error: no Location header
	ReasonBadLocation      Reason = "bad_location"      // redirect_error: Location is not a URL
)

// Reasons returns the reasons of attempts by outcome. An attempt may also have the code of an address rule of safehttp:
// for blocked_address the feed's own address violates it, for redirect_error the address of a redirect.
func Reasons() map[Outcome][]Reason {
	return map[Outcome][]Reason{
		OutcomeTimeout:         {ReasonPages},
		OutcomeDNSError:        {ReasonNoAddress, ReasonNoNameServer},
		OutcomeConnectionError: {ReasonUnreachable, ReasonBroken},
		OutcomeTooLarge:        {ReasonHeaders, ReasonBody, ReasonRow, ReasonRows, ReasonItem, ReasonItems},
		OutcomeParseError: {
			ReasonCompression, ReasonXML, ReasonJSON, ReasonCSV, ReasonDTD, ReasonTooDeep, ReasonEncoding, ReasonFormat, ReasonStatusCode, ReasonPages,
		},
		OutcomeTLSError:      {ReasonWrongName, ReasonUnknownAuthority, ReasonExpired, ReasonBadCertificate, ReasonNoTLS},
		OutcomeRedirectError: {ReasonTooManyHops, ReasonNoLocation, ReasonBadLocation},
	}
}
