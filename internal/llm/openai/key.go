package openai

import (
	"context"
	"strings"
	"sync"
)

// key is the API key, read when it is first needed.
type key struct {
	read func(ctx context.Context) (string, error) // may be nil

	mu    sync.Mutex
	value *string // nil until read
}

// get returns the key, empty if there is none.
func (k *key) get(ctx context.Context) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.value == nil && k.read != nil {
		value, err := k.read(ctx)
		if err != nil {
			return "", &keyError{err}
		}
		value = strings.TrimSpace(value)
		k.value = &value
	}
	if k.value == nil {
		return "", nil
	}
	return *k.value, nil
}

// drop forgets a key that was refused, so that a new one is read.
func (k *key) drop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.value = nil
}

// redact takes the key out of a server's message.
func (k *key) redact(s string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.value != nil && len(*k.value) >= 8 {
		s = strings.ReplaceAll(s, *k.value, "[key]")
	}
	return s
}

// keyError is a key that could not be read.
type keyError struct{ err error }

func (e *keyError) Error() string { return "reading the API key: " + e.err.Error() }
func (e *keyError) Unwrap() error { return e.err }
