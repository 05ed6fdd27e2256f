package mail

import (
	"context"
	"errors"
)

// CheckServer connects to the SMTP server of a URL, with TLS and credentials as for sending, and sends nothing. Its
// error contains the reason as the log would word it, without address or password.
func CheckServer(ctx context.Context, smtpURL string) error {
	s, err := parseServer(smtpURL, nil)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	c := &smtpClient{server: s}
	if err := c.connect(ctx); err != nil {
		return errors.New(describe(err)) //nolint:err113 // without the server's text, which may repeat addresses
	}
	c.close(ctx)
	return nil
}
