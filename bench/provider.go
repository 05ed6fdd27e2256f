package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// provider serves a snapshot over HTTPS with a self-signed certificate that the service is configured to trust.
type provider struct {
	server   *http.Server
	listener net.Listener
	body     atomic.Pointer[[]byte]
	caFile   string
}

const providerHost = "bench.example.org"

func newProvider(caFile string) (*provider, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bench"}, DNSNames: []string{providerHost},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(caFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		return nil, err
	}
	p := &provider{caFile: caFile}
	p.body.Store(&[]byte{'[', ']'})
	p.listener, err = tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
	})
	if err != nil {
		return nil, err
	}
	p.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(*p.body.Load()) // the service records the failure
	})}
	go p.server.Serve(p.listener) //nolint:errcheck // ends with close
	return p, nil
}

// url returns the URL of the snapshot for the service.
func (p *provider) url() string {
	_, port, _ := net.SplitHostPort(p.listener.Addr().String()) // a listener's address always has a port
	return "https://" + providerHost + ":" + port + "/snapshot.json"
}

func (p *provider) close() { _ = p.server.Close() } // a failure has no consequence
