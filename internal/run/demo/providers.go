package demo

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"time"
)

// Host is the host name of the publisher, which the demo's configuration resolves to this machine.
const Host = "town.example.org"

// Publisher serves the town's snapshot over HTTPS with a self-signed certificate.
type Publisher struct {
	listener net.Listener
	handler  http.Handler
	pem      []byte
}

// certificateLife is the validity of the certificate, longer than a demo runs.
const certificateLife = 30 * 24 * time.Hour

// NewPublisher opens a loopback port for the town's snapshot.
func NewPublisher(t *Town, now time.Time) (*Publisher, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "Wayside demo town"}, DNSNames: []string{Host},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLife), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("make certificate: %w", err)
	}
	body, err := json.Marshal(t.Snapshot())
	if err != nil {
		return nil, fmt.Errorf("encode snapshot: %w", err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
	})
	if err != nil {
		return nil, fmt.Errorf("open the town's port: %w", err)
	}
	return &Publisher{
		listener: listener,
		pem:      pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(body) // the service records the failure
		}),
	}, nil
}

// CA returns the certificate that the service must trust, as PEM.
func (p *Publisher) CA() []byte { return p.pem }

// URL returns the URL of the snapshot.
func (p *Publisher) URL() string {
	return fmt.Sprintf("https://%s:%d/town.json", Host, p.listener.Addr().(*net.TCPAddr).Port) //nolint:forcetypeassert // tcp
}

// Run serves until ctx ends.
func (p *Publisher) Run(ctx context.Context) error {
	server := &http.Server{Handler: p.handler, ReadHeaderTimeout: time.Minute}
	done := make(chan error, 1)
	go func() { done <- server.Serve(p.listener) }()
	<-ctx.Done()
	err := server.Close()
	if serveErr := <-done; !errors.Is(serveErr, http.ErrServerClosed) {
		err = errors.Join(err, serveErr)
	}
	return err
}

// Client is the API client of a provider: it signs in, registers feeds and pushes.
type Client struct {
	base   string
	http   http.Client
	cookie *http.Cookie
}

// NewClient returns a client of the service at base.
func NewClient(base string) *Client {
	return &Client{base: base, http: http.Client{Timeout: 30 * time.Second}}
}

// SignIn exchanges a sign-in token for a session.
func (c *Client) SignIn(ctx context.Context, token string) error {
	return c.post(ctx, "/v2/auth/verify", map[string]string{"token": token}, nil)
}

// Registered is the answer to the registration of a feed.
type Registered struct {
	Feed struct {
		ID string `json:"id"`
	} `json:"feed"`
	PushToken string `json:"push_ingest_token"`
}

// Register registers a feed with the given fields (POST /v2/feeds).
func (c *Client) Register(ctx context.Context, fields map[string]any) (Registered, error) {
	var r Registered
	err := c.post(ctx, "/v2/feeds", fields, &r)
	return r, err
}

// push sends a batch of rows.
func (c *Client) push(ctx context.Context, token string, rows []row) error {
	var report struct {
		Rejected int `json:"rejected"`
	}
	if err := c.post(ctx, "/v2/feeds/"+token+"/entities", rows, &report); err != nil {
		return err
	}
	if report.Rejected > 0 {
		return fmt.Errorf("%d rows of the town were rejected", report.Rejected)
	}
	return nil
}

// post sends JSON and decodes the answer into out, unless it is nil.
func (c *Client) post(ctx context.Context, path string, in, out any) error {
	return c.send(ctx, http.MethodPost, path, in, out)
}

// send sends JSON with the given method and decodes the answer into out, unless it is nil.
func (c *Client) send(ctx context.Context, method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if c.cookie != nil {
		req.AddCookie(c.cookie)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return errors.New("the service does not answer") // the cause contains the path, and with it the push token
	}
	defer resp.Body.Close() //nolint:errcheck // read only
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("the service answered %s: %s", resp.Status, text)
	}
	for _, cookie := range resp.Cookies() {
		c.cookie = &http.Cookie{Name: cookie.Name, Value: cookie.Value}
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}

// stepEvery is the interval of simulation steps.
const stepEvery = 2 * time.Second

// Drive advances the simulation, pushes changes and writes the live file, until ctx ends. It passes errors to failed and continues.
func Drive(ctx context.Context, t *Town, c *Client, token string, relay *LiveFile, failed func(error)) error {
	tick := time.NewTicker(stepEvery)
	defer tick.Stop()
	for {
		batch := t.Step(time.Now(), stepEvery)
		if err := relay.Write(t.Live()); err != nil {
			failed(err)
		}
		if len(batch) > 0 {
			if err := c.push(ctx, token, batch); err != nil && ctx.Err() == nil {
				failed(err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// LiveFile is the file of live incidents that the relay reads.
type LiveFile struct{ Name string }

// Write replaces the file atomically, so that the relay never reads a part of it.
func (f *LiveFile) Write(rows []row) error {
	body, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("encode rows: %w", err)
	}
	next := f.Name + ".next"
	if err := os.WriteFile(next, body, 0o600); err != nil {
		return err
	}
	return os.Rename(next, f.Name)
}
