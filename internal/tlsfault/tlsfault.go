// Package tlsfault explains to people why TLS with a server failed. It tells an expired
// certificate, a self-signed one, one of an unknown issuer and one for another name apart.
package tlsfault

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// Explain returns the fault, as the predicate of a sentence about the server, and the advice. Both
// are "" if err has another cause. now is the time by the clock of this machine.
func Explain(err error, now time.Time) (fault, advice string) {
	var header tls.RecordHeaderError
	if errors.Is(err, http.ErrSchemeMismatch) || errors.As(err, &header) {
		return "does not speak TLS", "Try http:// instead of https://."
	}
	var invalid x509.CertificateInvalidError
	var name x509.HostnameError
	var authority x509.UnknownAuthorityError
	var other *tls.CertificateVerificationError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return outdated(invalid.Cert, now)
	case errors.As(err, &name):
		return "has a certificate for other names (" + shown(name.Certificate.DNSNames...) + ")", "Check the address."
	case errors.As(err, &authority) && authority.Cert != nil && bytes.Equal(authority.Cert.RawIssuer, authority.Cert.RawSubject):
		return "has a self-signed certificate", "If the server is yours, add the certificate to the system's, or name its file in SSL_CERT_FILE."
	case errors.As(err, &authority):
		issuer := ""
		if authority.Cert != nil {
			issuer = " (" + shown(authority.Cert.Issuer.String()) + ")"
		}
		return "has a certificate from an unknown issuer" + issuer, "If that is your company's proxy, add its certificate to the system's, or name its file in SSL_CERT_FILE."
	case errors.As(err, &other):
		return "has a certificate that is not valid (" + sanitize.Line(other.Err.Error()) + ")", "Check the address."
	}
	return "", ""
}

// outdated explains a certificate that is not valid now.
func outdated(cert *x509.Certificate, now time.Time) (fault, advice string) {
	const day = time.DateOnly
	clock := "This machine's clock says " + now.Format("2006-01-02 15:04")
	if now.Before(cert.NotBefore) {
		return fmt.Sprintf("has a certificate that is not valid before %s", cert.NotBefore.Format(day)), clock + ": correct it if it is wrong."
	}
	return fmt.Sprintf("has an expired certificate (since %s)", cert.NotAfter.Format(day)), clock + ": if that is right, the server's operator has to renew the certificate."
}

// shown returns names from a certificate on one short line.
func shown(names ...string) string { return sanitize.Line(clip.Line(strings.Join(names, ", "))) }
