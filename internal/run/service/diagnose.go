package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"wayside/internal/ground/safehttp"
	"wayside/internal/people/mail"
	"wayside/internal/run/config"
)

// Limits of the request to the service's own public address.
const (
	ownRequestTimeout = 10 * time.Second
	maxOwnAnswer      = 64 << 10 // bytes
)

// CheckBaseURL opens the public address as a visitor would: by name, through proxy and certificate. Its error tells the operator
// what to correct.
func CheckBaseURL(ctx context.Context, cfg *config.Config, version string) error {
	roots, err := safehttp.ReadRoots(cfg.Egress.CAFile)
	if err != nil {
		return fmt.Errorf("egress.ca_file: %w", err)
	}
	target, err := safehttp.OperatorURL(cfg.BaseURL + "/readyz")
	if err != nil {
		return err
	}
	web, err := safehttp.New(safehttp.Options{
		UserAgent: userAgent(cfg, version), RootCAs: roots, Timeout: ownRequestTimeout, MaxBody: maxOwnAnswer,
	})
	if err != nil {
		return err
	}
	defer web.Close()
	answer, err := web.Fetch(ctx, safehttp.Request{URL: target})
	if err != nil {
		var failed *safehttp.Error
		switch {
		case errors.As(err, &failed) && failed.Status != 0:
			return fmt.Errorf("it answers with status %d", failed.Status)
		case errors.As(err, &failed):
			return fmt.Errorf("%s (%s)", failed.Outcome, failed.Reason)
		}
		return err
	}
	body, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return err
	}
	if !bytes.Contains(body, []byte(`"ready"`)) {
		return errors.New("something else than Wayside answers there")
	}
	return nil
}

// CheckMail connects to the configured e-mail server and signs in, and sends nothing. Its error does not contain the password.
func CheckMail(ctx context.Context, cfg *config.Config) error {
	return mail.CheckServer(ctx, cfg.Mail.SMTPURL)
}

// CheckLaw returns why the service could not read the configured areas; nil if there are none.
func CheckLaw(cfg config.Law) error {
	_, err := readLaw(cfg.File)
	return err
}

// LocalURL reports whether a URL leads every device to itself, as localhost does.
func LocalURL(text string) bool { return localURL(text) }
