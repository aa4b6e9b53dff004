package peer

import (
	"cmp"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"

	"golang.org/x/net/http/httpproxy"
)

// Proxy returns the proxy of the environment for a request, nil without one. It is
// http.ProxyFromEnvironment that knows ALL_PROXY, too, as most programs do. The environment is
// read once.
func Proxy(r *http.Request) (*url.URL, error) { return environment()(r.URL) }

var environment = sync.OnceValue(fromEnvironment)

func fromEnvironment() func(*url.URL) (*url.URL, error) {
	c := httpproxy.FromEnvironment()
	all := cmp.Or(os.Getenv("ALL_PROXY"), os.Getenv("all_proxy"))
	if rest, ok := strings.CutPrefix(all, "socks://"); ok { // as some desktops write it
		all = "socks5://" + rest
	}
	c.HTTPProxy, c.HTTPSProxy = cmp.Or(c.HTTPProxy, all), cmp.Or(c.HTTPSProxy, all)
	return c.ProxyFunc()
}

// ProxyVariable returns the name of the variable that sets the proxy for a scheme.
func ProxyVariable(scheme string) string {
	own := strings.ToUpper(scheme) + "_PROXY"
	names := []string{own, strings.ToLower(own), "ALL_PROXY", "all_proxy"}
	for _, name := range names {
		if os.Getenv(name) != "" {
			return name
		}
	}
	return own
}
