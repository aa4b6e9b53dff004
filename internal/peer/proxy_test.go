package peer

import (
	"net/url"
	"runtime"
	"strings"
	"testing"
)

func TestProxy(t *testing.T) {
	for name, test := range map[string]struct {
		env            map[string]string
		address, proxy string
		variable       string
	}{
		"nothing":            {nil, "https://models.example/v1", "", "HTTPS_PROXY"},
		"all":                {map[string]string{"ALL_PROXY": "http://proxy.example:3128"}, "https://models.example/v1", "http://proxy.example:3128", "ALL_PROXY"},
		"all, small":         {map[string]string{"all_proxy": "http://proxy.example:3128"}, "http://models.example/v1", "http://proxy.example:3128", "all_proxy"},
		"all, socks":         {map[string]string{"ALL_PROXY": "socks://proxy.example:1080/"}, "https://models.example/v1", "socks5://proxy.example:1080/", "ALL_PROXY"},
		"all, another":       {map[string]string{"ALL_PROXY": "http://all.example", "HTTPS_PROXY": "http://own.example"}, "https://models.example/v1", "http://own.example", "HTTPS_PROXY"},
		"all, not this host": {map[string]string{"ALL_PROXY": "http://all.example", "NO_PROXY": ".example"}, "https://models.example/v1", "", "ALL_PROXY"},
		"all, this machine":  {map[string]string{"ALL_PROXY": "http://all.example"}, "http://127.0.0.1:11434/v1", "", "ALL_PROXY"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, v := range []string{"ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "all_proxy", "http_proxy", "https_proxy", "no_proxy"} {
				t.Setenv(v, "")
			}
			for v, value := range test.env {
				t.Setenv(v, value)
			}
			if runtime.GOOS == "windows" { // where names differ by more than their case
				test.variable = strings.ToUpper(test.variable)
			}
			u, err := url.Parse(test.address)
			if err != nil {
				t.Fatal(err)
			}
			got, err := fromEnvironment()(u)
			if err != nil || (got == nil) != (test.proxy == "") || got != nil && got.String() != test.proxy {
				t.Errorf("%v, %v", got, err)
			}
			if got := ProxyVariable(u.Scheme); got != test.variable {
				t.Errorf("the variable is %s", got)
			}
		})
	}
}
