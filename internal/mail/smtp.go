package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/textproto"
	"net/url"
	"strconv"

	gomail "github.com/wneessen/go-mail"
)

// server is the SMTP server that letters are handed to.
type server struct {
	host, port     string
	user, password string
	implicit       bool // TLS from the first byte (smtps://)
	policy         gomail.TLSPolicy
	tls            *tls.Config
}

// parseServer reads smtp://user:password@host:587 or smtps://…:465. Under smtp:// STARTTLS is required, unless the server
// is on this machine or the URL ends in ?starttls=optional or ?starttls=never. Errors repeat nothing of the URL, which
// holds a password.
func parseServer(text string, roots *tls.Config) (*server, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Opaque != "" {
		return nil, errors.New("smtp_url must look like smtp://user:password@host:587 or smtps://user:password@host:465")
	}
	s := &server{host: u.Hostname(), port: u.Port(), user: u.User.Username()}
	s.password, _ = u.User.Password()
	if roots != nil {
		s.tls = roots.Clone()
	} else {
		s.tls = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	s.tls.ServerName = s.host
	standard := "587"
	switch u.Scheme {
	case "smtp":
		s.policy = gomail.TLSMandatory
	case "smtps":
		// The client sees that the connection is encrypted already, and signs in over it; with its own way to do this it
		// would forget that, since the connection is ours.
		s.implicit, s.policy, standard = true, gomail.TLSOpportunistic, "465"
	default:
		return nil, errors.New("smtp_url must begin with smtp:// or smtps://")
	}
	if s.port == "" {
		s.port = standard
	}
	starttls := u.Query().Get("starttls")
	if s.implicit && starttls != "" {
		return nil, errors.New("smtp_url: starttls means nothing under smtps://")
	}
	switch starttls {
	case "":
		if loopback(s.host) {
			s.policy = gomail.TLSOpportunistic
		}
	case "required":
		s.policy = gomail.TLSMandatory
	case "optional":
		s.policy = gomail.TLSOpportunistic
	case "never":
		s.policy = gomail.NoTLS
	default:
		return nil, errors.New("smtp_url: starttls must be required, optional or never")
	}
	return s, nil
}

func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// send hands over one letter. It ends when ctx does: the connection is then closed, whatever the server is at.
func (s *server) send(ctx context.Context, msg *gomail.Msg) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // also closes a connection that the client left open on its way out
	port, err := strconv.Atoi(s.port)
	if err != nil {
		return fmt.Errorf("port of the SMTP server: %w", err)
	}
	options := []gomail.Option{
		gomail.WithPort(port), gomail.WithTimeout(sendTimeout), gomail.WithTLSPolicy(s.policy), gomail.WithTLSConfig(s.tls),
		gomail.WithDialContextFunc(s.dial(ctx)),
	}
	if s.user != "" {
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(s.user), gomail.WithPassword(s.password))
	}
	client, err := gomail.NewClient(s.host, options...)
	if err != nil {
		return fmt.Errorf("prepare SMTP: %w", err)
	}
	err = client.DialAndSendWithContext(ctx, msg)
	if msg.IsDelivered() {
		return nil // what went wrong was the farewell
	}
	return err
}

// dial opens the connection and ties it to ctx, which outlives the context that the client passes.
func (s *server) dial(ctx context.Context) gomail.DialContextFunc {
	return func(dialCtx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(dialCtx, network, address)
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { _ = conn.Close() }) // closed twice in the normal course
		if !s.implicit {
			return conn, nil
		}
		secure := tls.Client(conn, s.tls)
		if err := secure.HandshakeContext(dialCtx); err != nil {
			return nil, err
		}
		return secure, nil
	}
}

// final says whether the server refused this letter for good, so that trying again would only do harm.
func final(err error) bool {
	var refused *gomail.SendError
	if !errors.As(err, &refused) || refused.ErrorCode() < 500 {
		return false
	}
	switch refused.Reason {
	case gomail.ErrSMTPRcptTo, gomail.ErrSMTPData, gomail.ErrSMTPDataClose:
		return true
	}
	return false // such as a sender that the server does not know: the operator can mend it
}

// describe tells for the log why a letter did not leave. Words of the server stay out: they repeat addresses.
func describe(err error) string {
	var (
		refused *gomail.SendError
		answer  *textproto.Error
	)
	switch {
	case errors.As(err, &refused):
		return fmt.Sprintf("%s: server answered %d", refused.Reason, refused.ErrorCode())
	case errors.As(err, &answer):
		return fmt.Sprintf("server answered %d", answer.Code)
	}
	return err.Error()
}
