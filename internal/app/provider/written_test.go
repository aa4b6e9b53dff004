package provider

import (
	"testing"

	"github.com/bb2d0cf4/agent/internal/config"
)

func TestReadsWrittenCalls(t *testing.T) {
	yes, no := true, false
	for _, test := range []struct {
		address string
		set     *bool
		want    bool
	}{
		{"http://127.0.0.1:11434/v1", nil, true},
		{"http://localhost:8080/v1", nil, true},
		{"https://api.openai.com/v1", nil, false},
		{"https://openrouter.ai/api/v1", &yes, true},
		{"http://127.0.0.1:11434/v1", &no, false},
	} {
		m := config.Model{Endpoint: config.Provider{BaseURL: test.address}, Options: config.ModelOptions{WrittenCalls: test.set}}
		if got := readsWritten(m); got != test.want {
			t.Errorf("%s, %v: %v", test.address, test.set, got)
		}
	}
}
