package permission

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// ruleHost returns the host in a rule's scope. "WebFetch(domain:x)" means "fetch(x)".
func ruleHost(scope string) (string, error) {
	host := strings.ToLower(strings.TrimPrefix(scope, "domain:"))
	if name := strings.TrimPrefix(host, "*."); name == "" || strings.ContainsAny(name, "*/ @?#") {
		return "", errors.New("want a host such as example.com, or *.example.com for the hosts in it")
	}
	return lookedUp(host)
}

// lookedUp returns a host as it is looked up, as web.Parse does.
func lookedUp(host string) (string, error) {
	if !strings.ContainsFunc(host, func(r rune) bool { return r > unicode.MaxASCII }) {
		return host, nil
	}
	name, within := strings.CutPrefix(host, "*.")
	name, err := idna.Lookup.ToASCII(name)
	if err != nil {
		return "", fmt.Errorf("%q is not the name of a host", host)
	}
	if within {
		name = "*." + name
	}
	return name, nil
}

// coversHost reports whether r covers pages of a host.
func (r Rule) coversHost(host string) bool {
	if r.kind != fetches {
		return false
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	domain, within := strings.CutPrefix(r.host, "*")
	return r.host == "" || r.host == host || within && strings.HasSuffix(host, domain)
}

// checkHost returns an error if r is no rule for a host.
func (r Rule) checkHost() error {
	switch {
	case r.kind != fetches:
		return errors.New("this question is about a page: write fetch(HOST)")
	case r.host == "":
		return errors.New("it covers every host: name one")
	}
	return nil
}
