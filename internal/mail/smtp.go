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
	quitTimeout  = 2 * time.Second
	serverCloses = 421 // the answer of a server that ends the connection (RFC 5321, 3.8)
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

// carrier hands letters to the server over one connection, which is opened for the first and used for the others.
type carrier struct {
	server  *server
	client  *gomail.Client // nil: not connected
	conn    net.Conn
	release func() bool // unties conn from the context that it was opened under; nil: not opened
	down    error       // why there was no connection to be had; the next look at the outbox tries again
}

// send hands over one letter. It ends when ctx does: the connection is then closed, whatever the server is at. Where the
// connection turns out to be dead before the letter was begun (a server may end it at any time, such as after so many
// letters), another one is opened.
func (c *carrier) send(ctx context.Context, msg *gomail.Msg) error {
	if c.client != nil {
		err := c.sendOver(ctx, msg)
		if err == nil || !stale(err) || ctx.Err() != nil {
			return err
		}
	}
	if c.down == nil {
		c.down = c.connect(ctx)
	}
	if c.down != nil {
		return c.down
	}
	return c.sendOver(ctx, msg)
}

func (c *carrier) sendOver(ctx context.Context, msg *gomail.Msg) error {
	conn := c.conn
	release := context.AfterFunc(ctx, func() { _ = conn.Close() }) // the client then fails, and says so
	err := c.client.Send(msg)
	release()
	if err != nil && !answered(err) {
		c.drop()
	}
	if msg.IsDelivered() {
		return nil // what went wrong is what came after
	}
	return err
}

func (c *carrier) connect(ctx context.Context) error {
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
		c.drop()
		return err
	}
	c.client = client
	return nil
}

// dial opens the connection and ties it to ctx, until release: the client greets and signs in without looking at it.
func (c *carrier) dial(ctx context.Context) gomail.DialContextFunc {
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

// drop ends the connection without a word.
func (c *carrier) drop() {
	if c.conn != nil {
		_ = c.conn.Close() // nothing is under way on it
	}
	c.client, c.conn, c.release = nil, nil, nil
}

// close takes leave of the server, if it listens; what it says to that matters to nobody.
func (c *carrier) close(ctx context.Context) {
	if c.client == nil {
		return
	}
	leave, cancel := context.WithTimeout(ctx, quitTimeout)
	defer cancel()
	conn := c.conn
	release := context.AfterFunc(leave, func() { _ = conn.Close() })
	_ = c.client.Close()
	release()
	c.drop()
}

// stale says whether a connection was dead before the letter was begun, so that it may go over another one at once.
func stale(err error) bool {
	var failed *gomail.SendError
	if !errors.As(err, &failed) {
		return false
	}
	switch failed.Reason {
	case gomail.ErrConnCheck:
		return true
	case gomail.ErrSMTPMailFrom, gomail.ErrSMTPRcptTo:
		return failed.ErrorCode() == 0 || failed.ErrorCode() == serverCloses
	}
	return false
}

// answered says whether the server refused a letter in good order, and takes another one over the same connection.
func answered(err error) bool {
	var failed *gomail.SendError
	return errors.As(err, &failed) && failed.ErrorCode() != 0 && failed.ErrorCode() != serverCloses &&
		(failed.Reason == gomail.ErrSMTPMailFrom || failed.Reason == gomail.ErrSMTPRcptTo)
}

// final says whether the server refused this letter for good, so that trying again would only do harm. What it says of the
// sender, or of signing in, the operator can mend; a mailbox that is full (552, RFC 5321, 4.5.3.1.10) empties again.
func final(err error) bool {
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

// describe tells for the log why a letter did not leave. Words of the server stay out: they repeat addresses.
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
