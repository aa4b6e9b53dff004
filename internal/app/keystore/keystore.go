// Package keystore stores the API keys that a person typed in. It guarantees that a key
// is stored in the system's keyring or else in a file that only its owner can read,
// that it is returned only for the address it was entered for, and that other packages
// need not know the place.
package keystore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/statefile"
	"github.com/bb2d0cf4/agent/internal/timelimit"
)

// File is the name of the file in the agent's own folder.
const File = "credentials.json"

// service is the program's name in the keyring.
const service = "agent"

// ringTime bounds the keyring, which may ask for a passphrase.
const ringTime = time.Minute

// entry is the place of the key for an address.
type entry struct {
	Keyring bool   `json:"keyring,omitzero"`
	Key     string `json:"key,omitzero"` // without a keyring
}

// Store holds the keys of one user.
type Store struct{ home string }

// Open returns the Store in the agent's own folder, without reading it.
func Open(home string) Store { return Store{home} }

func (s Store) file() string { return filepath.Join(s.home, File) }

func (s Store) entries() statefile.JSON[map[string]entry] {
	return statefile.JSON[map[string]entry]{Path: s.file()}
}

// Has reports whether a key for an address is stored, without asking the keyring.
func (s Store) Has(address string) bool {
	all, err := s.read()
	_, ok := all[address]
	return err == nil && ok
}

// These begin the names of logins to MCP servers and of sign-ins at model servers, as no address does.
const (
	loginPrefix  = "mcp "
	signInPrefix = "chatgpt "
)

// Login returns the name under which the login to an MCP server at an address is stored.
func Login(address string) string { return loginPrefix + address }

// SignIn returns the name under which the sign-in that replaces the key for an address is stored.
func SignIn(address string) string { return signInPrefix + address }

// title describes an entry by its name.
func title(name string) string {
	if address, ok := strings.CutPrefix(name, loginPrefix); ok {
		return "the login to " + address
	}
	if address, ok := strings.CutPrefix(name, signInPrefix); ok {
		return "the sign-in for " + address
	}
	return "the key for " + name
}

// Lock waits until no other process holds the lock of a name, and takes it.
func (s Store) Lock(ctx context.Context, name string) (release func() error, err error) {
	sum := sha256.Sum256([]byte(name))
	lock, err := statefile.Acquire(ctx, filepath.Join(s.home, "mcp", hex.EncodeToString(sum[:8])+".lock"))
	if err != nil {
		return nil, err
	}
	return lock.Release, nil
}

// Count returns the numbers of stored keys and of logins to MCP servers.
func (s Store) Count() (keys, logins int, err error) {
	all, err := s.read()
	for name := range all {
		switch {
		case strings.HasPrefix(name, loginPrefix):
			logins++
		case !strings.HasPrefix(name, signInPrefix):
			keys++
		}
	}
	return keys, logins, err
}

// Get returns the key for an address, or "" if none is stored.
func (s Store) Get(ctx context.Context, address string) (key string, err error) {
	all, err := s.read()
	if err != nil {
		return "", err
	}
	e := all[address]
	if !e.Keyring {
		return e.Key, nil
	}
	err = within(ctx, func() (err error) {
		key, err = keyring.Get(service, address)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("the system's keyring did not return %s: %w", title(address), err)
	}
	return key, nil
}

// All returns all stored keys, and the tokens and secrets of logins. The error tells which are missing.
func (s Store) All(ctx context.Context) (keys []string, err error) {
	all, err := s.read()
	for address := range all {
		key, getErr := s.Get(ctx, address)
		err = errors.Join(err, getErr)
		if key != "" {
			keys = append(keys, key)
		}
		var login any
		if json.Unmarshal([]byte(key), &login) == nil {
			keys = append(keys, secretsIn(login)...)
		}
	}
	return keys, err
}

// secretsIn returns the tokens and secrets in a login, by the names of its members.
func secretsIn(login any) (all []string) {
	members, _ := login.(map[string]any)
	for name, v := range members {
		if s, ok := v.(string); ok && s != "" && (strings.HasSuffix(name, "token") || strings.HasSuffix(name, "secret")) {
			all = append(all, s)
		}
		all = append(all, secretsIn(v)...)
	}
	return all
}

// Put stores the key for an address and returns a description of the place: the keyring or, without one
// or if the key is too long for it (2,560 bytes on Windows), the file.
func (s Store) Put(ctx context.Context, address, key string) (where string, err error) {
	e, where := entry{Key: key}, s.file()
	if hasRing() {
		switch err := within(ctx, func() error { return keyring.Set(service, address, key) }); {
		case err == nil:
			e, where = entry{Keyring: true}, "the system's keyring"
		case errors.Is(err, keyring.ErrSetDataTooBig): // it works, so the key before must not stay there
			if err := s.unring(ctx, address); err != nil {
				return "", err
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	err = s.entries().Change(ctx, func(all map[string]entry) map[string]entry {
		if all == nil {
			all = map[string]entry{}
		}
		all[address] = e
		return all
	})
	if err != nil {
		return "", s.explain(err)
	}
	return where, nil
}

// Delete deletes the key for an address. It returns false if none was stored.
func (s Store) Delete(ctx context.Context, address string) (was bool, err error) {
	all, err := s.read()
	e, was := all[address]
	if err != nil || !was {
		return false, err
	}
	if e.Keyring {
		if err := s.unring(ctx, address); err != nil {
			return true, err
		}
	}
	return true, s.explain(s.entries().Change(ctx, func(all map[string]entry) map[string]entry {
		delete(all, address)
		return all
	}))
}

// unring deletes the key for an address from the keyring, if it is there.
func (s Store) unring(ctx context.Context, address string) error {
	err := within(ctx, func() error { return keyring.Delete(service, address) })
	if err != nil && !errors.Is(err, keyring.ErrNotFound) {
		return fmt.Errorf("the system's keyring did not delete %s: %w", title(address), err)
	}
	return nil
}

func (s Store) read() (map[string]entry, error) {
	all, err := s.entries().Read()
	return all, s.explain(err)
}

// explain adds the consequence to an error of the file. The message does not show the
// file's content.
func (s Store) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, statefile.ErrMalformed):
		return fmt.Errorf("%s: %w; delete it and enter the keys again", s.file(), statefile.ErrMalformed)
	}
	return fmt.Errorf("stored keys: %w", err)
}

// hasRing reports whether a keyring is likely. Looking for one outside a desktop
// session would start a program.
func hasRing() bool {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" || os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	_, err := os.Stat(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "bus"))
	return os.Getenv("XDG_RUNTIME_DIR") != "" && err == nil
}

// within runs f, which cannot be stopped, and waits until it ends or ctx is done.
func within(ctx context.Context, f func() error) error {
	ctx, cancel := timelimit.Context(ctx, ringTime)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		defer crash.Guard()
		done <- f()
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return timelimit.Explain(ctx, ctx.Err())
	}
}
