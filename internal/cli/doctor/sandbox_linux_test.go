package doctor

import (
	"testing"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/sandbox"
)

func TestSandbox(t *testing.T) {
	offer := sandbox.Probe(t.Context())
	if offer.Missing != "" || len(offer.Gaps) > 0 {
		t.Skip(offer.Missing, offer.Gaps)
	}
	for _, c := range []struct {
		sandbox config.Sandbox
		want    string
	}{
		{config.Sandbox{Mode: "off"}, "off"},
		{config.Sandbox{Mode: "auto", Network: true}, "auto"},
		{config.Sandbox{Mode: "required"}, "required, without network"},
	} {
		if got := checkSandbox(t.Context(), config.Config{Sandbox: c.sandbox}); got != fine(c.want) {
			t.Errorf("%+v: %+v", c.sandbox, got)
		}
	}
}
