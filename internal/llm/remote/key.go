package remote

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// key is the API key, read when it is first needed.
type key struct {
	read  func(ctx context.Context) (string, error)                 // may be nil
	renew func(ctx context.Context, refused string) (string, error) // nil if the key stays the same
	other []string                                                  // other secrets: the values of headers

	mu    sync.Mutex
	value *string // nil until read
}

// get returns the key, or an empty string.
func (k *key) get(ctx context.Context) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.read != nil && (k.value == nil || k.renew != nil) {
		return k.take(k.read(ctx))
	}
	if k.value == nil {
		return "", nil
	}
	return *k.value, nil
}

// take notes a key that was read. The caller holds the lock.
func (k *key) take(value string, err error) (string, error) {
	if err != nil {
		return "", &keyError{err}
	}
	value = strings.TrimSpace(value)
	k.value = &value
	return value, nil
}

// again returns another key if err is the server's refusal of this one.
func (k *key) again(ctx context.Context, refused string, err error) (next string, ok bool, _ error) {
	var fail *failure
	if k.renew == nil || !errors.As(err, &fail) || fail.err.Kind != llm.Unauthorized || fail.err.Status != http.StatusUnauthorized {
		return "", false, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	next, err = k.take(k.renew(ctx, refused))
	return next, err == nil, err
}

// drop forgets a key that was refused, so that it is read again.
func (k *key) drop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.value = nil
}

// redact replaces the key and the other secrets in a server's message.
func (k *key) redact(s string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	secrets := k.other
	if k.value != nil {
		secrets = append(slices.Clip(secrets), *k.value)
	}
	for _, secret := range secrets {
		if len(secret) >= minSecret {
			s = strings.ReplaceAll(s, secret, "[key]")
		}
	}
	return s
}

// minSecret is the minimum length of a secret that redact looks for, in bytes; a
// shorter one would be found by chance.
const minSecret = 8

// secretsIn returns the possible keys in the values of headers: each value without the
// name of a scheme before it.
func secretsIn(headers map[string]string) []string {
	var secrets []string
	for _, value := range headers {
		if fields := strings.Fields(value); len(fields) > 0 {
			secrets = append(secrets, fields[len(fields)-1])
		}
	}
	return secrets
}

// keyError is a key that could not be read.
type keyError struct{ err error }

func (e *keyError) Error() string { return "reading the API key: " + e.err.Error() }
func (e *keyError) Unwrap() error { return e.err }
