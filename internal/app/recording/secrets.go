package recording

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// hidden replaces a secret.
const hidden = "[secret]"

// Secrets holds the parts, of minSecret bytes, of known values, which are left out besides
// texts that look like a key.
type Secrets map[string]bool

// minSecret is the length of the shortest part of a value that is looked for, in bytes: a
// shorter one would be found in ordinary text.
const minSecret = 8

// NewSecrets returns the Secrets of some values. Of a value in JSON, as a login is, the long
// strings count.
func NewSecrets(values ...string) Secrets {
	s := Secrets{}
	for _, value := range values {
		var fields map[string]any
		if json.Unmarshal([]byte(value), &fields) == nil {
			s.addFields(fields)
			continue
		}
		s.add(value)
	}
	return s
}

func (s Secrets) addFields(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, field := range v {
			s.addFields(field)
		}
	case []any:
		for _, field := range v {
			s.addFields(field)
		}
	case string:
		if len(v) >= 2*minSecret && !strings.Contains(v, "://") {
			s.add(v)
		}
	}
}

// add adds the parts of a value, also as it is in JSON, in an address and in base64.
func (s Secrets) add(value string) {
	for _, scheme := range []string{"Bearer ", "Basic ", "bearer ", "basic ", "token "} {
		value = strings.TrimPrefix(value, scheme)
	}
	quoted, _ := json.Marshal(value) // any string can be
	forms := []string{value, string(quoted[1 : len(quoted)-1]), url.QueryEscape(value), url.PathEscape(value)}
	for lead := range 3 { // the bytes before it shift the digits
		digits := base64.RawStdEncoding.EncodeToString([]byte("xxx"[:lead] + value))
		forms = append(forms, digits[min(len(digits), 2*lead):max(min(len(digits), 2*lead), len(digits)-2)])
	}
	for _, form := range forms {
		for i := range max(0, len(form)-minSecret+1) {
			s[form[i:i+minSecret]] = true
		}
	}
}

// keys matches the keys and tokens of known services, and private keys.
var keys = lazyregexp.New(`\b(sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,}|glpat-[A-Za-z0-9_-]{16,}|` +
	`AKIA[0-9A-Z]{16}|AIza[A-Za-z0-9_-]{30,}|xox[abprs]-[A-Za-z0-9-]{10,}|eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})|` +
	`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)`)

// named matches the value, with a digit in it, of a setting that is named like a secret.
var named = lazyregexp.New(`(?i)((?:api_?-?key|access_?-?key|private_?-?key|secret|token|passw(?:or)?d|passphrase|credential|authorization)[\w.-]*` +
	`(?:\\*["'])?\s*[:=]\s*(?:\\*["'])?(?:bearer |basic )?)([A-Za-z_+/=~.-]*[0-9][\w+/=~.-]*)`)

// redact returns text without secrets, and whether it held any.
func (s Secrets) redact(text string) (out string, found bool) {
	out = s.withoutParts(keys.ReplaceAllString(text, hidden))
	out = named.ReplaceAllStringFunc(out, func(setting string) string {
		if m := named.FindStringSubmatch(setting); len(m[2]) >= minSecret {
			return m[1] + hidden
		}
		return setting
	})
	return out, out != text
}

// withoutParts replaces the parts of known values in text.
func (s Secrets) withoutParts(text string) string {
	var b strings.Builder
	last := 0 // the end of the text in b, or of the part that b ends with
	for i := 0; i+minSecret <= len(text); i++ {
		if !s[text[i:i+minSecret]] {
			continue
		}
		if i >= last {
			b.WriteString(text[last:i])
			b.WriteString(hidden)
		}
		last = i + minSecret
	}
	return b.String() + text[last:]
}
