package tlsfault

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// issue returns a certificate by a; by itself if a is nil.
func (a *authority) issue(t *testing.T, c x509.Certificate) (*authority, tls.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c.SerialNumber = big.NewInt(1)
	by := &authority{&c, key}
	if a != nil {
		by = a
	}
	der, err := x509.CreateCertificate(rand.Reader, &c, by.cert, &key.PublicKey, by.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{cert, key}, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// TestExplain connects to servers with each fault, and to one without.
func TestExplain(t *testing.T) {
	now := time.Now()
	here := []net.IP{net.IPv4(127, 0, 0, 1)}
	valid := func(from, to time.Duration) x509.Certificate {
		return x509.Certificate{Subject: pkix.Name{CommonName: "here"}, IPAddresses: here, NotBefore: now.Add(from), NotAfter: now.Add(to)}
	}
	ca := x509.Certificate{Subject: pkix.Name{CommonName: "Corp CA"}, IsCA: true, BasicConstraintsValid: true, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour), KeyUsage: x509.KeyUsageCertSign}
	known, _ := (*authority)(nil).issue(t, ca)
	unknown, _ := (*authority)(nil).issue(t, ca)
	other := valid(-time.Hour, time.Hour)
	other.IPAddresses, other.DNSNames = nil, []string{"a.example", "b.example"}
	for name, tt := range map[string]struct {
		by    *authority
		cert  x509.Certificate
		fault []string
	}{
		"fine":           {known, valid(-time.Hour, time.Hour), nil},
		"expired":        {known, valid(-48*time.Hour, -24*time.Hour), []string{"has an expired certificate (since " + now.Add(-24*time.Hour).UTC().Format(time.DateOnly) + ")", "clock says " + now.Format("2006-01-02 15:04")}},
		"not yet valid":  {known, valid(24*time.Hour, 48*time.Hour), []string{"is not valid before " + now.Add(24*time.Hour).UTC().Format(time.DateOnly), "clock says"}},
		"self-signed":    {nil, valid(-time.Hour, time.Hour), []string{"has a self-signed certificate", "SSL_CERT_FILE"}},
		"unknown issuer": {unknown, valid(-time.Hour, time.Hour), []string{"from an unknown issuer (CN=Corp CA)", "company's proxy"}},
		"another name":   {known, other, []string{"for other names (a.example, b.example)"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, cert := tt.by.issue(t, tt.cert)
			s := httptest.NewUnstartedServer(http.NotFoundHandler())
			s.Config.ErrorLog = log.New(io.Discard, "", 0)
			s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
			s.StartTLS()
			defer s.Close()
			roots := x509.NewCertPool()
			roots.AddCert(known.cert)
			check(t, s.URL, roots, now, tt.fault)
		})
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	check(t, strings.Replace(plain.URL, "http:", "https:", 1), nil, now, []string{"does not speak TLS", "http://"})
	check(t, "https://"+greeter(t), nil, now, []string{"does not speak TLS"})
}

// check gets url, and expects the words of a fault; no fault without words.
func check(t *testing.T, url string, roots *x509.CertPool, now time.Time, words []string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}}
	res, err := client.Get(url)
	if err == nil {
		_ = res.Body.Close()
	}
	fault, advice := Explain(err, now)
	if (err == nil) != (len(words) == 0) || (fault == "") != (len(words) == 0) {
		t.Fatalf("%v: %q", err, fault)
	}
	for _, w := range words {
		if !strings.Contains(fault+". "+advice, w) {
			t.Errorf("%q is not in %q, %q: %v", w, fault, advice, err)
		}
	}
}

// greeter is a server that speaks first, and no HTTP.
func greeter(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "220 mail.example ESMTP\r\n")
			_, _ = io.Copy(io.Discard, c)
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}
