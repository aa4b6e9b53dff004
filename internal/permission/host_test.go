package permission_test

import (
	"testing"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/permission"
)

func fetching(host string) confirm.Request {
	return confirm.Request{Tool: "web_fetch", Subject: &confirm.Fetch{URL: "https://" + host + "/", Host: host}}
}

func TestRulesForHosts(t *testing.T) {
	for _, tt := range []struct {
		rule, host string
		covers     bool
	}{
		{"fetch", "a.example", true},
		{"fetch(a.example)", "a.example", true},
		{"fetch(A.Example)", "a.example.", true},
		{"fetch(a.example)", "b.a.example", false},
		{"fetch(a.example)", "evil-a.example", false},
		{"fetch(*.example)", "a.example", true},
		{"fetch(*.a.example)", "evila.example", false},
		{"fetch(*.a.example)", "a.example", false},
		{"WebFetch(domain:a.example)", "a.example", true},
		{"fetch(bücher.example)", "xn--bcher-kva.example", true},
		{"fetch(*.Bücher.example)", "a.xn--bcher-kva.example", true},
	} {
		r, err := permission.ParseRule(permission.Allow, tt.rule, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, covers := permission.New(permission.Default, r).Decide(fetching(tt.host)); covers != tt.covers {
			t.Errorf("%s covers %s: %t", tt.rule, tt.host, covers)
		}
	}
	for _, wrong := range []string{"fetch(*)", "fetch(a b)", "fetch(https://a/b)", "fetch(*.*)", "fetch(domain:)", "fetch(a?)", "fetch(a／b.example)"} {
		if r, err := permission.ParseRule(permission.Allow, wrong, ""); err == nil {
			t.Errorf("%s: %s", wrong, r)
		}
	}
}

// A yes for the session is for the host; plan mode reads pages; a denied host stays denied.
func TestAnswersForHosts(t *testing.T) {
	p := permission.New(permission.Plan)
	if v, decided := p.Decide(fetching("a.example")); decided {
		t.Errorf("plan mode: %+v", v)
	}
	p.Grant(fetching("a.example"))
	if v, decided := p.Decide(fetching("a.example")); !decided || v.Decision != confirm.Approve {
		t.Errorf("the host of the answer: %+v", v)
	}
	if _, decided := p.Decide(fetching("b.example")); decided {
		t.Error("another host is covered")
	}
	if got := p.Grants(); len(got) != 1 || got[0].String() != "fetch(a.example)" {
		t.Errorf("grants %v", got)
	}
	deny, err := permission.ParseRule(permission.Deny, "fetch(*.example)", "")
	if err != nil {
		t.Fatal(err)
	}
	p.AddRule(deny)
	if v, decided := p.Decide(fetching("a.example")); !decided || v.Decision != confirm.Reject {
		t.Errorf("a denied host: %+v", v)
	}
}
