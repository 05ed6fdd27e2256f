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
	"time"

	gomail "github.com/wneessen/go-mail"
)

const (
	quitTimeout        = 2 * time.Second
	codeServiceClosing = 421 // the server closes the connection (RFC 5321, 3.8)
)

// server is the configured SMTP server.
type server struct {
	host, port     string
	user, password string
	implicit       bool // TLS from the first byte (smtps://)
	policy         gomail.TLSPolicy
	tls            *tls.Config
}

// parseServer reads smtp://user:password@host:587 or smtps://…:465. Under smtp:// STARTTLS is required, unless the server
// is on this machine or the URL ends in ?starttls=optional or ?starttls=never. Errors never repeat the URL, which
// may contain a password.
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
		// The connection is dialled here, not by the client. The client detects TLS on it and authenticates; with its own
		// option for implicit TLS it would not detect it.
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

// smtpClient sends e-mails over one connection, which is opened for the first and reused.
type smtpClient struct {
	server  *server
	client  *gomail.Client // nil: not connected
	conn    net.Conn
	release func() bool // stops closing conn when the dial context ends; nil: not dialled
	dialErr error       // why dialling failed; the next poll of the outbox tries again
}

// send sends one e-mail. When ctx ends, the connection is closed. If a reused connection turns out to be closed before the
// e-mail was begun (servers may limit the e-mails of a connection), send dials again.
func (c *smtpClient) send(ctx context.Context, msg *gomail.Msg) error {
	if c.client != nil {
		err := c.sendOver(ctx, msg)
		if err == nil || !stale(err) || ctx.Err() != nil {
			return err
		}
	}
	if c.dialErr == nil {
		c.dialErr = c.connect(ctx)
	}
	if c.dialErr != nil {
		return c.dialErr
	}
	return c.sendOver(ctx, msg)
}

func (c *smtpClient) sendOver(ctx context.Context, msg *gomail.Msg) error {
	conn := c.conn
	release := context.AfterFunc(ctx, func() { _ = conn.Close() }) // makes the client fail
	err := c.client.Send(msg)
	release()
	if err != nil && !answered(err) {
		c.closeConn()
	}
	if msg.IsDelivered() {
		return nil // the failure came after the acceptance
	}
	return err
}

func (c *smtpClient) connect(ctx context.Context) error {
	s := c.server
	port, err := strconv.Atoi(s.port)
	if err != nil {
		return fmt.Errorf("port of the SMTP server: %w", err)
	}
	options := []gomail.Option{
		gomail.WithPort(port), gomail.WithTimeout(sendTimeout), gomail.WithTLSPolicy(s.policy), gomail.WithTLSConfig(s.tls),
		gomail.WithDialContextFunc(c.dial(ctx)),
	}
	if s.user != "" {
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(s.user), gomail.WithPassword(s.password))
	}
	client, err := gomail.NewClient(s.host, options...)
	if err != nil {
		return fmt.Errorf("prepare SMTP: %w", err)
	}
	err = client.DialWithContext(ctx)
	if c.release != nil {
		c.release()
	}
	if err != nil {
		c.closeConn()
		return err
	}
	c.client = client
	return nil
}

// dial opens the connection and closes it when ctx ends, until release: the client's handshake ignores its context.
func (c *smtpClient) dial(ctx context.Context) gomail.DialContextFunc {
	return func(dialCtx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(dialCtx, network, address)
		if err != nil {
			return nil, err
		}
		c.conn = conn
		c.release = context.AfterFunc(ctx, func() { _ = conn.Close() })
		if !c.server.implicit {
			return conn, nil
		}
		secure := tls.Client(conn, c.server.tls)
		if err := secure.HandshakeContext(dialCtx); err != nil {
			return nil, err
		}
		return secure, nil
	}
}

// closeConn closes the connection without QUIT.
func (c *smtpClient) closeConn() {
	if c.conn != nil {
		_ = c.conn.Close() // no e-mail is being sent on it
	}
	c.client, c.conn, c.release = nil, nil, nil
}

// close sends QUIT, ignoring errors, and closes the connection.
func (c *smtpClient) close(ctx context.Context) {
	if c.client == nil {
		return
	}
	leave, cancel := context.WithTimeout(ctx, quitTimeout)
	defer cancel()
	conn := c.conn
	release := context.AfterFunc(leave, func() { _ = conn.Close() })
	_ = c.client.Close()
	release()
	c.closeConn()
}

// stale reports whether the connection was closed before the e-mail was begun, so that another connection may be tried.
func stale(err error) bool {
	var failed *gomail.SendError
	if !errors.As(err, &failed) {
		return false
	}
	switch failed.Reason {
	case gomail.ErrConnCheck:
		return true
	case gomail.ErrSMTPMailFrom, gomail.ErrSMTPRcptTo:
		return failed.ErrorCode() == 0 || failed.ErrorCode() == codeServiceClosing
	}
	return false
}

// answered reports whether the server rejected an e-mail with a reply that leaves the connection usable.
func answered(err error) bool {
	var failed *gomail.SendError
	return errors.As(err, &failed) && failed.ErrorCode() != 0 && failed.ErrorCode() != codeServiceClosing &&
		(failed.Reason == gomail.ErrSMTPMailFrom || failed.Reason == gomail.ErrSMTPRcptTo)
}

// permanent reports whether the server rejected this e-mail permanently, so that a retry is pointless. Replies about the
// sender or authentication can be fixed by the operator; a full mailbox (552, RFC 5321, 4.5.3.1.10) is temporary.
func permanent(err error) bool {
	var refused *gomail.SendError
	if !errors.As(err, &refused) || refused.ErrorCode() < 500 {
		return false
	}
	switch refused.ErrorCode() {
	case 530, 534, 535, 538, 552:
		return false
	}
	switch refused.Reason {
	case gomail.ErrSMTPRcptTo, gomail.ErrSMTPData, gomail.ErrSMTPDataClose:
		return true
	}
	return false
}

// describe returns the reason of a failure for the log, without the server's text, which may repeat addresses.
func describe(err error) string {
	var (
		refused *gomail.SendError
		answer  *textproto.Error
	)
	switch {
	case errors.As(err, &refused) && refused.ErrorCode() == 0:
		return refused.Reason.String() + ": no answer"
	case errors.As(err, &refused):
		return fmt.Sprintf("%s: server answered %d", refused.Reason, refused.ErrorCode())
	case errors.As(err, &answer):
		return fmt.Sprintf("server answered %d", answer.Code)
	}
	return err.Error()
}
